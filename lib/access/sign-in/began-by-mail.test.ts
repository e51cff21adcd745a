import { expect, test } from "vitest";
import { beganByRecentMail, recentSeconds } from "./began-by-mail";

test.each([
  ["a link of now", "otp", 0, true],
  ["a link of nearly an hour ago", "recovery", recentSeconds - 5, true],
  ["a link of an hour ago", "magiclink", recentSeconds + 1, false],
  ["a password of now", "password", 0, false],
])("A session that began with %s by the method %s, %i seconds ago: %s", (_, method, secondsAgo, expected) => {
  const amr = [{ method, timestamp: Math.floor(Date.now() / 1000) - secondsAgo }];
  expect(beganByRecentMail({ sub: "s", role: "authenticated", session_id: "s", email: "a@b.c", amr })).toBe(
    expected,
  );
});

test("A session whose token does not say how it began did not begin by mail", () => {
  const claims = { sub: "s", role: "authenticated" as const, session_id: "s", email: "a@b.c" };
  expect(beganByRecentMail(claims)).toBe(false);
  expect(beganByRecentMail({ ...claims, amr: "otp" } as never)).toBe(false);
});
