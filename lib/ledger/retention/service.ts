import { setTimeout as wait } from "node:timers/promises";
import type { Client } from "pg";
import { withMaintenanceClient } from "@/lib/db/maintenance";
import { isContention } from "@/lib/db/transaction";
import {
  countMonth,
  removeMonth,
  type StoredMonth,
  selectMonthsBefore,
  selectThisMonth,
} from "./retention-queries";

export type RetentionOptions = {
  /** The first month to keep, `YYYY-MM`, UTC. */
  before: string;
  /** Whether to remove nothing and only report what would be removed. */
  dryRun: boolean;
  /** Called for each month that has been removed, or would be. */
  onMonth?: (month: RemovedMonth) => void;
  /** Ends the run after the current month. */
  signal?: AbortSignal;
};

/** A month that was removed, or would be in a dry run. `month`: `YYYY-MM`. `bytes`: its size on disk. */
export type RemovedMonth = { month: string; messages: number; postings: number; bytes: number };

/** The months that a run removed, or would remove. `isWhole`: false if the signal ended the run early. */
export type Retention = { months: RemovedMonth[]; isWhole: boolean };

/** The months cannot be removed: `before` is not valid, or a month is in use. */
export class RetentionError extends Error {
  override name = "RetentionError";
}

/** How often a month is tried while other transactions use it, and the pause between two attempts. */
const maxAttempts = 60;
const pauseMs = 1_000;

/**
 * Removes the messages of every month before a given one, for all workspaces. All sums keep their amounts. Each month is one
 * transaction, so an interrupted run has removed whole months and can be repeated.
 * @throws RetentionError if `before` is not a month or is in the future, and if a month is in use for a minute
 */
export async function removeMessages(options: RetentionOptions): Promise<Retention> {
  const { before, dryRun, onMonth, signal } = options;
  if (!/^\d{4}-(0[1-9]|1[0-2])$/.test(before)) {
    throw new RetentionError(
      `--before takes the first month to keep as YYYY-MM, such as 2025-01, not ${before}.`,
    );
  }
  return withMaintenanceClient(async (client) => {
    const thisMonth = await selectThisMonth(client);
    if (`${before}-01` > thisMonth) {
      throw new RetentionError(
        `${before} is in the future: at most the months before the current one, ${thisMonth.slice(0, 7)}, can be removed.`,
      );
    }
    const months: RemovedMonth[] = [];
    for (const stored of await selectMonthsBefore(client, `${before}-01`)) {
      if (signal?.aborted) return { months, isWhole: false };
      const { messages, postings } = await countMonth(client, stored);
      if (Number(postings) === 0) continue;
      if (!dryRun) await removeInTurn(client, stored);
      const month = {
        month: stored.from.slice(0, 7),
        messages: Number(messages),
        postings: Number(postings),
        bytes: Number(stored.bytes),
      };
      months.push(month);
      onMonth?.(month);
    }
    return { months, isWhole: true };
  });
}

/** Removes a month, and waits for transactions that use it. */
async function removeInTurn(client: Client, month: StoredMonth): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await removeMonth(client, month);
    } catch (error) {
      if (!isBusy(error)) throw error;
      if (attempt === maxAttempts) {
        throw new RetentionError(
          `The messages of ${month.from.slice(0, 7)} are in use. Nothing of that month was removed; run the command again.`,
          { cause: error },
        );
      }
      await wait(pauseMs);
    }
  }
}

/** Whether the month was in use: a lock timeout (55P03), a deadlock or a serialization failure. */
const isBusy = (error: unknown) => isContention(error) || (error as { code?: string }).code === "55P03";
