import type { CostStatus } from "@/lib/contract/ledger/ingest-result";
import type { CostMessage, MessageSource } from "@/lib/contract/ledger/message";
import type { Emitter } from "./call";

/** One row of `public.messages`, as `private.store_messages` reads it. Decimals are exact text, instants ISO 8601. */
export type LedgerRow = {
  workspace_id: string;
  id: string;
  part?: number;
  occurred_at: string;
  /** Set for an adjustment of a closed month: when the cost occurred. `occurred_at` is then the time of recording. */
  adjusts?: string | undefined;
  created_at: string;
  project_id: string;
  api_key_id: string | null;
  type: CostMessage["type"];
  source: MessageSource;
  environment: "live" | "test";
  provider?: string;
  model?: string | undefined;
  feature?: string | undefined;
  unit_type?: string;
  quantity?: string;
  amount_usd: string;
  cost_status: CostStatus;
  price?: unknown;
  currency?: string;
  original_amount?: string;
  batch_id?: string | undefined;
  label?: string | undefined;
  category?: string | undefined;
  notes?: string | undefined;
  metadata?: unknown;
  details?: unknown;
  /** The person who caused the usage: a message's `user`. */
  end_user?: string | undefined;
  session?: string | undefined;
  /** Each `name:value`, sorted. */
  tags?: string[] | undefined;
  emitter?: string | undefined;
  given_cost_usd?: string | undefined;
  list_price_usd?: string | undefined;
  /** Set for the first of several lines: the cost of all of them, by which lists are sorted. */
  lines_usd?: string | undefined;
};

/** A posting before it has an id, a sender and a project: a row without these columns. */
export type Posting = Omit<
  LedgerRow,
  | "workspace_id"
  | "id"
  | "created_at"
  | "project_id"
  | "api_key_id"
  | "environment"
  | "source"
  | "emitter"
  | "given_cost_usd"
>;

/**
 * The row of a posting. Lists the owner's columns first and spreads the posting last: in V8, an object literal whose spread is followed
 * by other properties is about fifty times slower.
 */
export function rowOf(owner: Omit<LedgerRow, keyof Posting>, posting: Posting): LedgerRow {
  const { workspace_id, id, created_at, project_id, api_key_id, source, environment } = owner;
  return { workspace_id, id, created_at, project_id, api_key_id, source, environment, ...posting };
}

/** The rows of a message, all with the owner's project; the caller sets another project of a second posting. */
export function rowsOf(
  owner: Omit<LedgerRow, keyof Posting>,
  emitter: Emitter | undefined,
  postings: readonly [Posting, ...Posting[]],
): [LedgerRow, ...LedgerRow[]] {
  const rows = postings.map((posting) => {
    const row = rowOf(owner, posting);
    if (emitter) row.emitter = emitter.name;
    return row;
  }) as [LedgerRow, ...LedgerRow[]];
  if (emitter?.costUsd) rows[0].given_cost_usd = emitter.costUsd;
  return rows;
}
