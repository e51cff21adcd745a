import { SignJWT } from "jose";
import { expect, test, vi } from "vitest";
import { inSessionTurn } from "@/lib/access/sign-in/local/queues";

// As one of four workers. Settings are read once, at first use.
vi.hoisted(() => {
  process.env.WEB_CONCURRENCY = "4";
  process.env.OUTLAY_WORKER = "2";
});

test("Gives each of four workers its share of the requests that one session may have: one at once, four waiting", async () => {
  const token = await new SignJWT({ session_id: crypto.randomUUID() })
    .setProtectedHeader({ alg: "HS256" })
    .sign(new TextEncoder().encode("anybody's key, as it is not verified"));
  const request = new Request("http://localhost/auth/v1/user", {
    headers: { authorization: `Bearer ${token}` },
  });
  let running = 0;
  let most = 0;
  let finish = () => {};
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const turns = Array.from({ length: 8 }, () =>
    inSessionTurn(request, async () => {
      running += 1;
      most = Math.max(most, running);
      await finished;
      running -= 1;
    }).then(
      () => "answered",
      ({ code }) => code,
    ),
  );
  const refused = await Promise.all(turns.slice(5));
  finish();
  expect(refused).toEqual(Array(3).fill("over_request_rate_limit"));
  expect(await Promise.all(turns.slice(0, 5))).toEqual(Array(5).fill("answered"));
  expect(most).toBe(1);
});
