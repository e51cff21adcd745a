import { expect, test } from "vitest";
import { parseEnv } from "@/lib/env";
import { connectionsToAllow } from "./connection-budget";

test.each([
  ["10", 1, 100],
  ["85", 1, 100],
  // 12 in addition to the pools, and 3 that Postgres reserves for superusers.
  ["86", 1, 101],
  ["200", 1, 215],
  ["60", 2, 135],
])("Allows connections for pools of %s in %i processes: %i", (size, processes, allowed) => {
  expect(connectionsToAllow(parseEnv({ POSTGRES_POOL_SIZE: size }), processes)).toBe(allowed);
});
