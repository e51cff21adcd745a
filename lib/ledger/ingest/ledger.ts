import type { CostStatus } from "@/lib/contract/ledger/ingest-result";
import type { CostMessage, MessageSource } from "@/lib/contract/ledger/message";
import type { Emitter } from "./call";

/** One row of `public.messages`, as `private.store_messages` reads it. Decimals are exact text, instants ISO 8601. */
export type LedgerRow = {
  workspace_id: string;
  id: string;
  part?: number;
  occurred_at: string;
  /** Of an adjustment of a closed month: when the cost occurred. It is booked at `occurred_at`, when it was recorded. */
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
  /** The person whom usage was for: a message's `user`. */
  end_user?: string | undefined;
  session?: string | undefined;
  /** Each `name:value`, sorted. */
  tags?: string[] | undefined;
  emitter?: string | undefined;
  given_cost_usd?: string | undefined;
  list_price_usd?: string | undefined;
  /** Of the first line of several: what all of them cost. Lists are sorted by it. */
  lines_usd?: string | undefined;
};

/** A posting before its message's sender is known: a row without its owner's columns. */
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
 * The row of a posting. Names the owner's columns and then spreads the posting: V8 makes an object from a spread that
 * other properties follow some fifty times slower than one whose spread is last.
 */
export function rowOf(owner: Omit<LedgerRow, keyof Posting>, posting: Posting): LedgerRow {
  const { workspace_id, id, created_at, project_id, api_key_id, source, environment } = owner;
  return { workspace_id, id, created_at, project_id, api_key_id, source, environment, ...posting };
}

/** The rows of a message, before a second posting of another project gets that. */
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
