import type { ClientBase } from "pg";
import type { LimitKind, LimitPeriod } from "@/lib/contract/bills/limit-kinds";
import { boolean, neverNull, nullable, numeric, type Row, text, timestamp, uuid } from "@/lib/db/columns";
import { callFunction, selectAll } from "@/lib/db/query";
import { empty, sql } from "@/lib/db/sql";
import { callAsService } from "@/lib/db/transaction";

const limitRow = {
  id: uuid(),
  budget_id: nullable(uuid()),
  budget_name: nullable(text()),
  /** The budget's present limit, USD. */
  limit_usd: nullable(numeric()),
  account_id: uuid(),
  provider: text(),
  account: text(),
  kind: text<LimitKind>(),
  target_name: nullable(text()),
  period: text<LimitPeriod>(),
  removes: boolean(),
  is_removing: boolean(),
  state: text<"waiting" | "equal" | "drift" | "refused" | "gone">(),
  problem: nullable(text()),
  written_usd: nullable(numeric()),
  written_at: nullable(timestamp()),
  held_usd: nullable(numeric()),
  held_period: nullable(text()),
  held_stops: nullable(boolean()),
  read_at: nullable(timestamp()),
  is_due: neverNull(boolean()),
  created_at: timestamp(),
  created_by_email: nullable(text()),
};

/** A limit at a provider as members see it, without the provider's id. */
export type LimitRow = Row<typeof limitRow>;

/** The limits at providers of a workspace. @param id only this one */
export function selectLimits(client: ClientBase, workspaceId: string, id?: string): Promise<LimitRow[]> {
  return selectAll(
    client,
    limitRow,
    sql`select l.id, l.budget_id, b.name as budget_name, trim_scale(b.limit_usd) as limit_usd,
        l.account_id, l.provider, l.account, l.kind, l.target_name, l.period, l.removes, l.is_removing, l.state, l.problem,
        trim_scale(l.written_usd) as written_usd, l.written_at, trim_scale(l.held_usd) as held_usd, l.held_period, l.held_stops,
        l.read_at, l.next_at <= now() or coalesce(l.leased_until > now(), false) as is_due, l.created_at, l.created_by_email
      from public.provider_limits as l
      left join public.budget_status as b
        on b.workspace_id = l.workspace_id and b.id = l.budget_id and b.environment = 'live'
      where l.workspace_id = ${workspaceId} ${id === undefined ? empty : sql`and l.id = ${id}`}
      order by l.provider, l.account, lower(l.target_name), l.id`,
  );
}

// The rest runs as the service; what a user changes checks their role again.

/** Links a budget to a limit. @param limit `{ id, budget_id, account_id, kind, target, target_name, period, removes }` */
export function addLimit(
  client: ClientBase,
  workspaceId: string,
  limit: object,
  atMost: number,
): Promise<"added" | "no_account" | "taken" | "too_many"> {
  return callFunction(client, "private.add_provider_limit", workspaceId, JSON.stringify(limit), atMost);
}

/** Makes a limit due. @param write it is written, too. @returns false where there is none, or it is being removed */
export function askForLimit(
  client: ClientBase,
  workspaceId: string,
  id: string,
  write: boolean,
): Promise<boolean> {
  return callFunction(client, "private.ask_for_provider_limit", workspaceId, id, write);
}

/** Unlinks a limit. @param atProvider it is removed there first */
export async function unlinkLimit(
  client: ClientBase,
  workspaceId: string,
  id: string,
  atProvider: boolean,
): Promise<void> {
  await callFunction(client, "private.remove_provider_limit", workspaceId, id, atProvider);
}

/** What of an account budgets limit already. */
export function listLimitedTargets(
  client: ClientBase,
  workspaceId: string,
  accountId: string,
): Promise<{ kind: LimitKind; target: string; period: LimitPeriod }[]> {
  return callFunction(client, "private.list_limited_targets", workspaceId, accountId);
}

/** A limit that this process writes or reads. */
export type ClaimedLimit = {
  workspace_id: string;
  id: string;
  lease: string;
  revision: number;
  account_id: string;
  provider: string;
  account: string;
  kind: LimitKind;
  target: string;
  period: LimitPeriod;
  is_removing: boolean;
  writes: boolean;
  written_usd: string | null;
  /** Null where the budget was deleted. */
  limit_usd: string | null;
  attempts: number;
  sealed: string | null;
};

/** Takes a limit that is due. @returns null where none is */
export function claimLimit(leaseSeconds: number): Promise<ClaimedLimit | null> {
  return callAsService("private.claim_provider_limit", leaseSeconds);
}

/** How a run ended; see `private.finish_provider_limit`. */
export type EndedLimit = {
  outcome: "equal" | "drift" | "refused" | "gone" | "failed" | "removed" | "interrupted";
  problem?: string;
  name?: string;
  held?: { usd: string | null; period: string | null; stops: boolean };
  written_usd?: string;
  /** Whether this run wrote it. */
  wrote?: boolean;
  retry_in_seconds: number;
};

/** Records how a run ended. Nothing happens where the lease was lost. */
export async function finishLimit(
  { workspace_id, id, lease, revision }: ClaimedLimit,
  ended: EndedLimit,
): Promise<void> {
  const stored = JSON.stringify({ workspace_id, id, lease, revision, ...ended });
  await callAsService("private.finish_provider_limit", stored);
}
