import { randomBytes } from "node:crypto";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { readDecodedBytes } from "./body";
import { largeBytes, Turn, Turns } from "./turns";

/** Asks for turns in the given order. @returns the workspaces whose turn has begun, in order, and functions that end their turns */
function ask(turns: Turns, workspaces: string[]) {
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const asked = workspaces.map(async (workspace) => {
    ends.push(await turns.take(workspace));
    begun.push(workspace);
  });
  return { begun, ends, asked };
}

const settled = () => new Promise(setImmediate);

test("Gives a workspace one turn at a time, and each the next turn before one has its second", async () => {
  const { begun, ends } = ask(new Turns({ atOnce: 1, ofOne: 8, inAll: 32 }), ["a", "a", "a", "b", "c", "b"]);
  for (let ended = 0; ended < 6; ended += 1) {
    await settled();
    expect(ends).toHaveLength(1);
    ends.pop()?.();
  }
  expect(begun).toEqual(["a", "b", "c", "a", "b", "a"]);
});

test("Works for several workspaces at once, and never for one twice", async () => {
  const { begun, ends } = ask(new Turns({ atOnce: 2, ofOne: 8, inAll: 32 }), ["a", "a", "b", "c"]);
  await settled();
  expect(begun).toEqual(["a", "b"]);
  ends[1]?.();
  await settled();
  expect(begun).toEqual(["a", "b", "c"]);
  ends[0]?.();
  await settled();
  expect(begun).toEqual(["a", "b", "c", "a"]);
});

test("Refuses the one that finds the most waiting, of its workspace and in all", async () => {
  const turns = new Turns({ atOnce: 1, ofOne: 2, inAll: 3 });
  const { begun } = ask(turns, ["a", "a", "a", "b"]);
  await expect(turns.take("a")).rejects.toMatchObject({
    code: "unavailable",
    headers: { "Retry-After": "1" },
  });
  await expect(turns.take("c")).rejects.toMatchObject({ code: "unavailable" });
  expect(begun).toEqual(["a"]);
});

test("Ends a turn once, however often it is told to", async () => {
  const { begun, ends } = ask(new Turns({ atOnce: 1, ofOne: 8, inAll: 32 }), ["a", "a", "a"]);
  await settled();
  ends[0]?.();
  ends[0]?.();
  await settled();
  expect(begun).toEqual(["a", "a"]);
});

test("Gives the place of a caller up that disconnects while it waits, and no other", async () => {
  const turns = new Turns({ atOnce: 1, ofOne: 2, inAll: 2 });
  const begun: string[] = [];
  const take = async (name: string, signal?: AbortSignal) => {
    const end = await turns.take("a", signal);
    begun.push(name);
    return end;
  };
  const end = await take("first");
  const caller = new AbortController();
  const gone = take("gone", caller.signal);
  const stays = take("stays", new AbortController().signal);
  await expect(take("too many")).rejects.toMatchObject({ code: "unavailable" });
  caller.abort();
  await expect(gone).rejects.toMatchObject({ code: "unavailable", message: "The caller has disconnected." });
  await expect(take("gone before", caller.signal)).rejects.toMatchObject({ code: "unavailable" });
  const last = take("last");
  end();
  (await stays)();
  await last;
  expect(begun).toEqual(["first", "stays", "last"]);
});

test("Keeps the turn of a caller that disconnects after it began, until it is ended", async () => {
  const turns = new Turns({ atOnce: 1, ofOne: 2, inAll: 2 });
  const caller = new AbortController();
  const end = await turns.take("a", caller.signal);
  caller.abort();
  let hasBegun = false;
  const next = turns.take("a").then(() => {
    hasBegun = true;
  });
  await settled();
  expect(hasBegun).toBe(false);
  end();
  await next;
});

test("Does not decode the body of a caller that disconnected while it waited", async () => {
  const caller = new AbortController();
  // The compressed body is truncated, so decoding it would fail.
  const body = gzipSync(randomBytes(2 * largeBytes)).subarray(0, -64);
  const requestOf = (init: RequestInit) =>
    new Request("http://localhost", {
      method: "POST",
      headers: { "content-encoding": "gzip" },
      body,
      ...init,
    });
  const read = (request: Request, turn: Turn) =>
    readDecodedBytes(request, 8 * largeBytes, () => turn.take("of the test"));
  const working = new Turn(requestOf({}));
  await working.take("of the test");
  const waiting = requestOf({ signal: caller.signal });
  const answer = read(waiting, new Turn(waiting));
  await settled();
  caller.abort();
  await expect(answer).rejects.toMatchObject({ message: "The caller has disconnected." });
  working.end();
  const whole = requestOf({});
  const turn = new Turn(whole);
  await expect(read(whole, turn)).rejects.toMatchObject({ code: "validation_failed" });
  turn.end();
});

test("Has a workspace's next body decoded while one is recorded, and no third", async () => {
  const request = new Request("https://outlay.test", { method: "POST" });
  const [first, second, third] = [new Turn(request), new Turn(request), new Turn(request)];
  const done: string[] = [];
  await first.take("w");
  await first.record("w");
  await second.take("w");
  const recording = second.record("w").then(() => done.push("second is recorded"));
  const decoding = third.take("w").then(() => done.push("third is decoded"));
  await settled();
  expect(done).toEqual([]);
  first.end();
  await recording;
  await decoding;
  expect(done).toEqual(["second is recorded", "third is decoded"]);
  // Recording a small body, which was decoded without a turn, does not wait for one.
  await new Turn(request).record("w");
  second.end();
  third.end();
});
