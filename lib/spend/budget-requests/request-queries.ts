import type { ClientBase } from "pg";
import type { BudgetRequest } from "@/lib/contract/spend/budget-requests";
import {
  boolean,
  date,
  neverNull,
  nullable,
  numeric,
  type Row,
  text,
  timestamp,
  uuid,
} from "@/lib/db/columns";
import { callFunction, selectAll, selectFirst } from "@/lib/db/query";
import { empty, sql } from "@/lib/db/sql";

// Postgres describes every column of a view as nullable.
const requestRow = {
  id: neverNull(uuid()),
  budget_id: nullable(uuid()),
  limited_key_id: nullable(uuid()),
  limit_name: nullable(text()),
  currency: nullable(text()),
  state: neverNull(text<BudgetRequest["state"]>()),
  amount: neverNull(numeric()),
  percent: nullable(numeric()),
  reason: neverNull(text()),
  until: neverNull(date()),
  created_at: neverNull(timestamp()),
  requested_by: nullable(uuid()),
  requester_name: nullable(text()),
  key_id: nullable(uuid()),
  key_name: nullable(text()),
  decided_by: nullable(uuid()),
  decider_name: nullable(text()),
  decided_at: nullable(timestamp()),
  granted_amount: nullable(numeric()),
  granted_until: nullable(date()),
  answer: nullable(text()),
  owner_id: nullable(uuid()),
  /** The highest amount that the limit's owner may approve. */
  owner_most: nullable(numeric()),
  /** The last day of a raise that has not ended. */
  raised_until: nullable(date()),
  /** Whether it was decided by a click in Slack. */
  in_slack: neverNull(boolean()),
};

/** A request with its limit, of a budget or a key, as it is now. Amounts are exact text in the limit's currency. */
export type RequestRow = Row<typeof requestRow>;

/** A workspace's requests, at most 200: the pending ones first, each the newest first. @param id only this one */
export function selectRequests(client: ClientBase, workspaceId: string, id?: string): Promise<RequestRow[]> {
  return selectAll(
    client,
    requestRow,
    sql`select r.id, r.budget_id, r.limited_key_id, r.limit_name, r.currency, r.state, r.amount, r.percent, r.reason, r.until, r.created_at,
        r.requested_by, coalesce(p.display_name, p.email) as requester_name, r.key_id, k.name as key_name, r.decided_by,
        coalesce(d.display_name, d.email) as decider_name, r.decided_at, r.granted_amount, r.granted_until, r.answer,
        r.owner_id, r.owner_most, r.raised_until, r.in_slack
      from (
        select * from public.budget_request_status as each
        where each.workspace_id = ${workspaceId} ${id === undefined ? empty : sql`and each.id = ${id}`}
        order by each.state <> 'pending', each.created_at desc, each.id desc
        limit 200
      ) as r
      left join public.profiles as p on p.id = r.requested_by
      left join public.profiles as d on d.id = r.decided_by
      left join public.api_keys as k on k.workspace_id = r.workspace_id and k.id = r.key_id
      order by r.state <> 'pending', r.created_at desc, r.id desc`,
  );
}

/** A budget or a key that the user may see: the slug of its workspace, and whether it is a connected program; undefined for an unknown one. */
export function selectLimited(
  client: ClientBase,
  kind: "budget" | "key",
  id: string,
): Promise<{ slug: string; is_connection: boolean } | undefined> {
  const [named, isConnection] =
    kind === "budget"
      ? [sql`public.budgets`, sql`false`]
      : [sql`public.api_keys`, sql`named.kind = 'connection'`];
  return selectFirst(
    client,
    { slug: text(), is_connection: neverNull(boolean()) },
    sql`select w.slug, ${isConnection} as is_connection
      from ${named} as named join public.workspaces as w on w.id = named.workspace_id where named.id = ${id}`,
  );
}

/** The usual monthly limit of a key that the user may see, USD; undefined without one. */
export function selectKeyLimit(
  client: ClientBase,
  workspaceId: string,
  keyId: string,
): Promise<{ usual_amount: string } | undefined> {
  return selectFirst(
    client,
    { usual_amount: numeric() },
    sql`select trim_scale(monthly_limit) as usual_amount from public.api_keys
      where workspace_id = ${workspaceId} and id = ${keyId} and kind = 'key' and revoked_at is null and monthly_limit is not null`,
  );
}

// The rest runs as the service in the caller's transaction; each function checks the caller again.

/** What a request is about: a budget, or the monthly limit of a key. */
export type AskedLimit =
  | { budget_id: string; limited_key_id: null }
  | { budget_id: null; limited_key_id: string };

/** Why a request was not made. `id`: the request that is still pending. */
export type AskRefusal = { refused: "not_found" | "over" | "too_many" } | { refused: "pending"; id: string };

/** Makes a request and queues its notifications. @param asked.key_id null for the transaction's user */
export function insertRequest(
  client: ClientBase,
  asked: AskedLimit & {
    workspace_id: string;
    key_id: string | null;
    /** Exact text in the limit's currency. */
    amount: string;
    percent: string | null;
    reason: string;
    until: string;
  },
): Promise<{ id: string } | AskRefusal> {
  return callFunction(client, "private.ask_for_more", JSON.stringify(asked));
}

/** Why a request was not decided. */
export type DecisionRefusal =
  | { refused: "not_found" | "forbidden" | "own" | "over" | "more" }
  | { refused: "decided"; state: string }
  | { refused: "until"; first: string; last: string }
  | { refused: "too_much"; most: string };

/** Approves or denies a request as the transaction's user and queues the notifications. @returns null on success */
export function decideRequest(
  client: ClientBase,
  workspaceId: string,
  id: string,
  decision: {
    approve: boolean;
    amount: string | null;
    until: string | null;
    answer: string | null;
    slack_user: string | null;
  },
): Promise<DecisionRefusal | null> {
  return callFunction(client, "private.decide_budget_request", workspaceId, id, JSON.stringify(decision));
}

/** Withdraws a pending request of the transaction's user. @returns whether there was one */
export function withdrawRequest(client: ClientBase, workspaceId: string, id: string): Promise<boolean> {
  return callFunction(client, "private.withdraw_budget_request", workspaceId, id);
}

/** The currency and the usual amount of a limit; null if the key may not ask for more of it. */
export function selectLimitToAsk(
  client: ClientBase,
  keyId: string,
  { budget_id: budget, limited_key_id: limited }: AskedLimit,
): Promise<{ currency: string; usual_amount: string } | null> {
  return callFunction(client, "private.limit_to_ask", keyId, budget, limited);
}

/** A request as the key that made it sees it. `created_at` and `decided_at` are timestamps as Postgres writes them in JSON. */
export type KeyRequestRow = Pick<
  RequestRow,
  | "id"
  | "budget_id"
  | "limited_key_id"
  | "limit_name"
  | "currency"
  | "state"
  | "amount"
  | "percent"
  | "reason"
  | "until"
  | "granted_amount"
  | "granted_until"
  | "answer"
> & { created_at: string; decided_at: string | null };

/** The latest hundred requests that a key made. */
export function selectKeyRequests(client: ClientBase, keyId: string): Promise<KeyRequestRow[]> {
  return callFunction(client, "private.requests_of_key", keyId);
}
