import fc from "fast-check";
import { expect, test } from "vitest";
import { generateSecret, hashSecret, isWellFormedSecret, secretHint } from "./secret";

test("a secret is svc_live_, 32 random characters and 6 of checksum, and no two are alike", () => {
  const secrets = Array.from({ length: 200 }, generateSecret);
  for (const secret of secrets) {
    expect(secret).toMatch(/^svc_live_[0-9A-Za-z]{38}$/);
    expect(isWellFormedSecret(secret)).toBe(true);
  }
  expect(new Set(secrets).size).toBe(200);
});

test("a secret with one character changed, two swapped, or some cut off fails its checksum", () => {
  const secret = generateSecret();
  fc.assert(
    fc.property(
      fc.integer({ min: 9, max: secret.length - 1 }),
      fc.constantFrom(..."0aZq9"),
      (at, character) => {
        const changed = secret.slice(0, at) + character + secret.slice(at + 1);
        expect(isWellFormedSecret(changed)).toBe(changed === secret);
        const a = secret[at] ?? "";
        const b = secret[at + 1] ?? "";
        const swapped = secret.slice(0, at) + b + a + secret.slice(at + 2);
        expect(isWellFormedSecret(swapped)).toBe(swapped === secret);
        expect(isWellFormedSecret(secret.slice(0, at))).toBe(false);
      },
    ),
  );
});

test("what is kept of a secret does not give it away", () => {
  const secret = generateSecret();
  expect(hashSecret(secret)).toMatch(/^[0-9a-f]{64}$/);
  expect(secretHint(secret)).toEqual({ prefix: secret.slice(0, 13), last_four: secret.slice(-4) });
});
