import { expect, test } from "vitest";
import { asOutage } from "./outage";

test.each([
  ["57014", "took too long"],
  ["08006", "cannot be reached"],
])("speaks of a retry that counts once to whoever writes, and not to whoever reads (%s)", (code, says) => {
  const error = Object.assign(new Error("x"), { code });
  const of = (isReading: boolean) => asOutage(error, { givenUp: undefined, isReading })?.message;
  expect(of(true)).toContain(says);
  expect(of(true)).not.toContain("idempotency");
  expect(of(false)).toContain("a retry is never counted twice");
});
