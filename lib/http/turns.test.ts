import { expect, test } from "vitest";
import { Turns } from "./turns";

/** Asks for turns in this order. @returns who works, in the order in which the turns began, and how to end them */
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
