import fc from "fast-check";
import { expect, test } from "vitest";
import { generateSecret, hashSecret, isWellFormedSecret, secretHint } from "./secret";

test("Makes distinct secrets of svc_live_, 32 random characters and a checksum of 6", () => {
  const secrets = Array.from({ length: 200 }, generateSecret);
  for (const secret of secrets) {
    expect(secret).toMatch(/^svc_live_[0-9A-Za-z]{38}$/);
    expect(isWellFormedSecret(secret)).toBe(true);
  }
  expect(new Set(secrets).size).toBe(200);
});

test("Detects a changed, swapped or missing character by the checksum", () => {
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

test("Stores nothing from which the secret can be derived", () => {
  const secret = generateSecret();
  expect(hashSecret(secret)).toMatch(/^[0-9a-f]{64}$/);
  expect(secretHint(secret)).toEqual({ prefix: secret.slice(0, 13), last_four: secret.slice(-4) });
});
