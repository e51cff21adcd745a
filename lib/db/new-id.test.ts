import { expect, test } from "vitest";
import { newId } from "./new-id";

test("Makes distinct UUIDs of version 7 that sort in the order of creation", () => {
  const before = Date.now();
  const ids = Array.from({ length: 100_000 }, newId);
  for (const id of ids)
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(new Set(ids).size).toBe(ids.length);
  expect([...ids].sort()).toEqual(ids);
  for (const id of [ids[0], ids.at(-1)]) {
    const at = Number.parseInt(String(id).replaceAll("-", "").slice(0, 12), 16);
    expect(at).toBeGreaterThanOrEqual(before);
    expect(at).toBeLessThanOrEqual(Date.now());
  }
});
