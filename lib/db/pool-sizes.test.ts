import { expect, test } from "vitest";
import { EnvError, parseEnv } from "@/lib/env";
import { poolSizes } from "./pool";

test.each([
  [{}, { probing: 1, reading: 4, writing: 5 }],
  [{ POSTGRES_POOL_SIZE: "4" }, { probing: 1, reading: 1, writing: 2 }],
  [
    { POSTGRES_POOL_SIZE: "20", POSTGRES_READ_POOL_SIZE: "12" },
    { probing: 1, reading: 12, writing: 7 },
  ],
])("the connections for all purposes are as many as POSTGRES_POOL_SIZE says (%j)", (settings, sizes) => {
  expect(poolSizes(parseEnv(settings))).toEqual(sizes);
});

test("a pool for reads that leaves too little for recording is refused by name", () => {
  const settings = { POSTGRES_POOL_SIZE: "6", POSTGRES_READ_POOL_SIZE: "4" };
  expect(() => parseEnv(settings)).toThrow(EnvError);
  expect(() => parseEnv(settings)).toThrow(/POSTGRES_READ_POOL_SIZE: must be at most 3/);
});
