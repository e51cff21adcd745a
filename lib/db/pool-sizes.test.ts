import { expect, test } from "vitest";
import { EnvError, parseEnv } from "@/lib/env";
import { poolSizes } from "./pool";

test.each([
  [{}, { probing: 1, reading: 4, writing: 5, replica: 4, probing_replica: 1 }],
  [{ POSTGRES_POOL_SIZE: "4" }, { probing: 1, reading: 1, writing: 2, replica: 1, probing_replica: 1 }],
  [
    { POSTGRES_POOL_SIZE: "20", POSTGRES_READ_POOL_SIZE: "12" },
    { probing: 1, reading: 12, writing: 7, replica: 12, probing_replica: 1 },
  ],
])(
  "Opens at most POSTGRES_POOL_SIZE connections to the primary over all purposes (%j)",
  (settings, sizes) => {
    expect(poolSizes(parseEnv(settings))).toEqual(sizes);
  },
);

test("Refuses a read pool that leaves too few connections for writes, naming the setting", () => {
  const settings = { POSTGRES_POOL_SIZE: "6", POSTGRES_READ_POOL_SIZE: "4" };
  expect(() => parseEnv(settings)).toThrow(EnvError);
  expect(() => parseEnv(settings)).toThrow(/POSTGRES_READ_POOL_SIZE: must be at most 3/);
});
