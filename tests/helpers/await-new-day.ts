import { setTimeout } from "node:timers/promises";
import { beforeAll, beforeEach } from "vitest";

// Tests ask for the day and the month that the service and Postgres say too, which must be the same to the end of a test.

const dayMs = 86_400_000;

/** Waits for the next UTC day where it begins in less than `limitMs`. */
async function awaitNewDay(limitMs: number): Promise<void> {
  const leftMs = dayMs - (Date.now() % dayMs);
  // A clock of Postgres that is a little behind must have passed midnight too.
  if (leftMs < limitMs) await setTimeout(leftMs + 100);
}

beforeAll(() => awaitNewDay(40_000));
beforeEach(() => awaitNewDay(20_000));
