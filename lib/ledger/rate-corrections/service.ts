import type { Client } from "pg";
import { pauseAfterConflict } from "@/lib/db/job-steps";
import { withMaintenanceClient } from "@/lib/db/maintenance";
import { execute } from "@/lib/db/query";
import { sql } from "@/lib/db/sql";
import { isContention } from "@/lib/db/transaction";
import { add, compare, type Decimal, parseDecimal, subtract, toText, zero } from "@/lib/decimal";
import { rateDay, spreadYear } from "@/lib/ledger/ingest/compose";
import { convert } from "@/lib/ledger/pricing/currency";
import { followPublished } from "@/lib/ledger/published/follow";
import {
  applyChanges,
  auditCorrection,
  type BudgetCount,
  type ConvertedHead,
  type ConvertedPosting,
  lockConvertedPostings,
  selectBudgetCounts,
  selectConverted,
  selectWorkspaces,
} from "./rate-correction-queries";

/** Messages that one transaction examines. Each has at most twelve postings. */
const messagesAWrite = 200;

export type CorrectionOptions = {
  /** Whether to change nothing and only report what would be corrected. */
  dryRun: boolean;
  /** Only the workspace with this slug. */
  workspace?: string | undefined;
  /** Ends the run after the current transaction. */
  signal?: AbortSignal | undefined;
};

/**
 * The corrections of a workspace, made or (in a dry run) due. Amounts are USD as text. `months`: the change of each month (`YYYY-MM`).
 * `budgets`: each budget period whose spend changes. `keys`: the names of the keys whose spend changes.
 */
export type CorrectedWorkspace = {
  workspace: string;
  messages: number;
  change_usd: string;
  months: Record<string, string>;
  budgets: {
    name: string;
    environment: string;
    period_from: string;
    before_usd: string;
    after_usd: string;
  }[];
  keys: string[];
};

/**
 * Converts messages again that were converted at the rate of another day than `findRate` chooses now, and corrects all sums, budgets and
 * the spend of keys, as repricing does. Each transaction corrects whole messages and correct ones do not change, so that an interrupted
 * run can be repeated. A dry run does the same and rolls each transaction back.
 * @returns the workspaces where something changes
 */
export async function correctRates(options: CorrectionOptions): Promise<CorrectedWorkspace[]> {
  await followPublished();
  return withMaintenanceClient(async (client) => {
    const corrected: CorrectedWorkspace[] = [];
    for (const { id, slug } of await selectWorkspaces(client, options.workspace ?? null)) {
      const tally = new Tally(slug);
      let last: ConvertedHead | undefined;
      for (;;) {
        if (options.signal?.aborted) break;
        const heads = await selectConverted(client, id, last, messagesAWrite);
        const wrong = heads.filter(isWrong);
        if (wrong.length > 0) await correctSome(client, id, wrong, tally, options.dryRun);
        last = heads.at(-1);
        if (heads.length < messagesAWrite) break;
      }
      if (tally.messages > 0) corrected.push(tally.toAnswer());
    }
    return corrected;
  });
}

/** Converts a message at the present rates. */
function conversionOf({ currency, original_amount, dated_at, created_at }: ConvertedHead) {
  const day = rateDay(dated_at.toISOString(), created_at.getTime());
  return convert(parseDecimal(original_amount), currency, day);
}

/** Whether a message was converted at the rate of another day than the one that applies to it. */
function isWrong(head: ConvertedHead): boolean {
  return conversionOf(head).rateDate !== head.price.date;
}

async function correctSome(
  client: Client,
  workspaceId: string,
  heads: ConvertedHead[],
  tally: Tally,
  dryRun: boolean,
): Promise<void> {
  for (;;) {
    await execute(client, sql`begin`);
    try {
      const before = await selectBudgetCounts(client, workspaceId);
      const postings = await lockConvertedPostings(
        client,
        workspaceId,
        heads.map(({ id }) => id),
      );
      const changes = heads.flatMap((head) =>
        correct(
          head,
          postings.filter(({ id }) => id === head.id),
        ),
      );
      const change = changes.length === 0 ? "0" : await applyChanges(client, workspaceId, changes);
      const after = await selectBudgetCounts(client, workspaceId);
      const messages = new Set(changes.map(({ id }) => id)).size;
      if (messages > 0)
        await auditCorrection(client, workspaceId, { messages, change_usd: toText(parseDecimal(change)) });
      await execute(client, dryRun ? sql`rollback` : sql`commit`);
      tally.add(postings, changes, before, after);
      return;
    } catch (error) {
      await execute(client, sql`rollback`);
      // An ingest held the same sums: try again.
      if (!isContention(error)) throw error;
      await pauseAfterConflict();
    }
  }
}

/** The changes of a message's postings, at the rate that applies to it. */
function correct(head: ConvertedHead, postings: ConvertedPosting[]) {
  const { amountUsd, rate, rateDate: date, rateSource: source } = conversionOf(head);
  const monthly = spreadYear(amountUsd);
  return postings.map(({ id, part, occurred_at, interval }) => ({
    id,
    part,
    occurred_at: occurred_at.toISOString(),
    amount_usd: toText(interval === "year" ? monthly(part) : amountUsd),
    cost_status: "converted" as const,
    price: { rate, date, source },
    list_price_usd: null,
  }));
}

type Counts = BudgetCount[];
type Change = ReturnType<typeof correct>[number];

/** Adds up the corrections of a workspace over its transactions. */
class Tally {
  messages = 0;
  #change: Decimal = zero;
  readonly #months = new Map<string, Decimal>();
  readonly #budgets = new Map<string, CorrectedWorkspace["budgets"][number]>();
  readonly #keys = new Set<string>();

  constructor(private readonly workspace: string) {}

  add(postings: ConvertedPosting[], changes: Change[], before: Counts, after: Counts): void {
    this.messages += new Set(changes.map(({ id }) => id)).size;
    for (const { id, part, occurred_at, amount_usd, key_name } of postings) {
      const changed = changes.find((each) => each.id === id && each.part === part);
      if (!changed) continue;
      const difference = subtract(parseDecimal(changed.amount_usd), parseDecimal(amount_usd));
      const month = occurred_at.toISOString().slice(0, 7);
      this.#months.set(month, add(this.#months.get(month) ?? zero, difference));
      this.#change = add(this.#change, difference);
      if (key_name !== null) this.#keys.add(key_name);
    }
    for (const { budget_id: id, name, environment, period_from, spent_usd } of after) {
      const isSame = (each: Counts[number]) =>
        each.budget_id === id && each.environment === environment && each.period_from === period_from;
      const earlier = before.find(isSame)?.spent_usd ?? "0";
      if (compare(parseDecimal(earlier), parseDecimal(spent_usd)) === 0) continue;
      const key = `${id} ${environment} ${period_from}`;
      const first = this.#budgets.get(key)?.before_usd ?? toText(parseDecimal(earlier));
      // A dry run rolls back, so each of its transactions begins with the same count.
      const moved = subtract(parseDecimal(spent_usd), parseDecimal(earlier));
      const present = add(parseDecimal(this.#budgets.get(key)?.after_usd ?? first), moved);
      this.#budgets.set(key, {
        name,
        environment,
        period_from,
        before_usd: first,
        after_usd: toText(present),
      });
    }
  }

  toAnswer(): CorrectedWorkspace {
    const months = [...this.#months].sort(([a], [b]) => (a < b ? -1 : 1));
    return {
      workspace: this.workspace,
      messages: this.messages,
      change_usd: toText(this.#change),
      months: Object.fromEntries(months.map(([month, change]) => [month, toText(change)])),
      budgets: [...this.#budgets.values()],
      keys: [...this.#keys].sort(),
    };
  }
}
