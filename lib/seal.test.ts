import { describe, expect, test } from "vitest";
import { parseEnv } from "./env";
import { newSealingKey, SealError, seal, unseal } from "./seal";

describe("A sealed secret", () => {
  const [key, other] = [newSealingKey(), newSealingKey()];

  test("opens with its key for its subject, and is another text each time", () => {
    const [one, two] = [seal("sk-admin-1", "row 1", [key]), seal("sk-admin-1", "row 1", [key])];
    expect(one).not.toBe(two);
    expect(one).not.toContain("sk-admin");
    expect(unseal(one, "row 1", [key])).toEqual({ secret: "sk-admin-1", isOld: false });
  });

  test("does not open for another subject, with a changed character, or without its key", () => {
    const sealed = seal("sk-admin-1", "row 1", [key]);
    expect(() => unseal(sealed, "row 2", [key])).toThrow(SealError);
    const [version, name, text = ""] = sealed.split(".");
    for (let at = 0; at < text.length - 1; at += 1) {
      const changed = `${text.slice(0, at)}${text[at] === "A" ? "B" : "A"}${text.slice(at + 1)}`;
      expect(() => unseal([version, name, changed].join("."), "row 1", [key]), String(at)).toThrow(SealError);
    }
    expect(() => unseal(sealed, "row 1", [other])).toThrow(/not in SEALING_KEYS/);
    expect(() => unseal("anything", "row 1", [key])).toThrow(SealError);
  });

  test("of a former key opens beside a new one, which seals", () => {
    const sealed = seal("sk-admin-1", "row 1", [key]);
    expect(unseal(sealed, "row 1", [other, key])).toEqual({ secret: "sk-admin-1", isOld: true });
    const renewed = seal("sk-admin-1", "row 1", [other, key]);
    expect(unseal(renewed, "row 1", [other])).toEqual({ secret: "sk-admin-1", isOld: false });
  });

  test("is not made without a key", () => {
    expect(() => seal("sk-admin-1", "row 1", [])).toThrow(/set SEALING_KEYS/);
  });
});

test("Keys that seal must have 32 bytes", () => {
  const key = newSealingKey();
  expect(parseEnv({ SEALING_KEYS: `${key}, ${newSealingKey()}` }).SEALING_KEYS[0]).toBe(key);
  for (const bad of ["short", key.slice(4), `${key}${key}`, "=".repeat(44)])
    expect(() => parseEnv({ SEALING_KEYS: bad }), bad).toThrow(/SEALING_KEYS: must be keys of 32 bytes/);
});
