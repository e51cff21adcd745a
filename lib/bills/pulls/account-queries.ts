import type { ClientBase } from "pg";
import type { Destination } from "@/lib/bills/telemetry/registrar";
import type { PulledProvider } from "@/lib/contract/bills/pulled-providers";
import {
  boolean,
  date,
  integer,
  neverNull,
  nullable,
  numeric,
  type Row,
  text,
  timestamp,
  uuid,
} from "@/lib/db/columns";
import { callFunction, selectAll } from "@/lib/db/query";
import { sql } from "@/lib/db/sql";
import { callAsService } from "@/lib/db/transaction";
import type { KnownStatement } from "./choose-days";
import type { DayRange } from "./provider";

const accountRow = {
  id: uuid(),
  provider: text(),
  account: text(),
  folder: nullable(text()),
  since: date(),
  pulled_through: nullable(date()),
  next_day: nullable(date()),
  has_data: boolean(),
  held_day: nullable(date()),
  held_usd: nullable(numeric()),
  usual_usd: nullable(numeric()),
  seat_count: nullable(integer()),
  unused_seat_count: nullable(integer()),
  seat_usd: nullable(numeric()),
  problem: nullable(text()),
  is_refused: boolean(),
  /** Whether a pull runs or is due. */
  is_pulling: neverNull(boolean()),
  is_late: neverNull(boolean()),
  last_pull_at: nullable(timestamp()),
  last_success_at: nullable(timestamp()),
  created_at: timestamp(),
  created_by_email: nullable(text()),
  telemetry_id: nullable(uuid()),
  telemetry_key_id: nullable(uuid()),
  telemetry_state: nullable(text()),
  telemetry_problem: nullable(text()),
  telemetry_tested_at: nullable(timestamp()),
  telemetry_checked_at: nullable(timestamp()),
  telemetry_created_at: nullable(timestamp()),
  telemetry_created_by: nullable(text()),
  telemetry_is_stale: nullable(boolean()),
  key_used_at: nullable(timestamp()),
  key_revoked_at: nullable(timestamp()),
};

/** An account as stored, without its key. */
export type AccountRow = Row<typeof accountRow>;

/** The provider accounts of a workspace. */
export function selectAccounts(client: ClientBase, workspaceId: string): Promise<AccountRow[]> {
  return selectAll(
    client,
    accountRow,
    sql`select p.id, p.provider, p.account, p.folder, p.since, p.pulled_through, p.next_day, p.has_data, p.held_day,
        trim_scale(p.held_usd) as held_usd, trim_scale(p.usual_usd) as usual_usd, p.seat_count, p.unused_seat_count,
        trim_scale(p.seat_usd) as seat_usd, p.problem, p.is_refused, p.last_pull_at, p.last_success_at, p.created_at, p.created_by_email,
        p.next_pull_at <= now() or coalesce(p.leased_until > now(), false) as is_pulling,
        coalesce(p.last_success_at, p.created_at) < now() - interval '2 days' as is_late,
        t.id as telemetry_id, t.key_id as telemetry_key_id, t.state as telemetry_state, t.problem as telemetry_problem,
        t.tested_at as telemetry_tested_at, t.checked_at as telemetry_checked_at, t.created_at as telemetry_created_at,
        t.created_by_email as telemetry_created_by, t.created_at < now() - interval '2 minutes' as telemetry_is_stale,
        k.last_used_at as key_used_at, k.revoked_at as key_revoked_at
      from public.provider_accounts as p
      left join public.provider_telemetry as t on t.workspace_id = p.workspace_id and t.account_id = p.id
      left join public.api_keys as k on k.workspace_id = t.workspace_id and k.id = t.key_id
      where p.workspace_id = ${workspaceId}
      order by p.provider, p.account`,
  );
}

// The rest runs as the service; what changes an account checks the user's role again.

/** Adds an account. @param account `{ id, provider, account, since }` */
export function addAccount(
  client: ClientBase,
  workspaceId: string,
  account: object,
  sealedKey: string,
  atMost: number,
): Promise<"added" | "taken" | "too_many"> {
  const given = JSON.stringify(account);
  return callFunction(client, "private.add_provider_account", workspaceId, given, sealedKey, atMost);
}

/** Removes an account and its key, and its bills, too, if so asked. @returns whether there was one */
export function removeAccount(
  client: ClientBase,
  workspaceId: string,
  id: string,
  withBills: boolean,
): Promise<boolean> {
  return callFunction(client, "private.remove_provider_account", workspaceId, id, withBills);
}

/** Makes an account due. @returns false while a pull of it runs */
export function askForPull(
  client: ClientBase,
  workspaceId: string,
  id: string,
  acceptJump: boolean,
): Promise<boolean> {
  return callFunction(client, "private.ask_for_pull", workspaceId, id, acceptJump);
}

/** An account whose pull this process has taken on. */
export type ClaimedAccount = {
  workspace_id: string;
  id: string;
  lease: string;
  provider: string;
  account: string;
  /** The address of the folder of exports; null or missing of other providers. */
  folder?: string | null;
  since: string;
  next_day: string | null;
  pulled_through: string | null;
  has_data: boolean;
  held_day: string | null;
  accepts_jump: boolean;
  attempts: number;
  today: string;
  sealed: string;
  /** What is registered at the provider, which sends its telemetry here; null for nothing. */
  telemetry?: { id: string; destinations: Destination[] } | null;
};

/** Takes an account that is due. @returns null where none is */
export function claimAccount(leaseSeconds: number): Promise<ClaimedAccount | null> {
  return callAsService("private.claim_provider_account", leaseSeconds);
}

/** Stores a key as it is sealed now, unless it was sealed again meanwhile. */
export function resealKey({ workspace_id, id, sealed }: ClaimedAccount, renewed: string): Promise<void> {
  return callAsService("private.reseal_provider_key", workspace_id, id, sealed, renewed);
}

/**
 * Begins to store days of a range in the present transaction, and keeps the lease.
 * @returns what is stored of the provider in the range, in the order in which it was made; null where the lease was lost
 */
export function beginPulledDays(
  client: ClientBase,
  { workspace_id, id, lease }: ClaimedAccount,
  leaseSeconds: number,
  { from, until }: DayRange,
): Promise<KnownStatement[] | null> {
  const values = [workspace_id, id, lease, leaseSeconds, from, until];
  return callFunction(client, "private.begin_pulled_days", ...values);
}

/** Stores days. @param following the day with which the pull goes on */
export async function storePulledDays(
  client: ClientBase,
  { workspace_id, id }: ClaimedAccount,
  days: object[],
  following: string,
): Promise<void> {
  await callFunction(client, "private.store_pulled_days", workspace_id, id, JSON.stringify(days), following);
}

/** How a pull ended; see `private.finish_provider_pull`. */
export type EndedPull = {
  outcome: "done" | "refused" | "failed" | "interrupted";
  problem?: string;
  has_data?: boolean;
  pulled_through?: string;
  held?: { day: string; amount_usd: string; usual_usd: string } | null;
  seats?: { count: number; unused_count: number; usd: string | null };
  retry_in_seconds: number;
};

/** Records how a pull ended. Nothing happens where the lease was lost. */
export async function finishPull(
  { workspace_id, id, lease }: ClaimedAccount,
  ended: EndedPull,
): Promise<void> {
  await callAsService("private.finish_provider_pull", JSON.stringify({ workspace_id, id, lease, ...ended }));
}

/** A provider account with its sealed key. */
export type SealedAccount = {
  workspace_id: string;
  id: string;
  provider: PulledProvider;
  account: string;
  sealed: string;
};

/** Reads a provider account with its key, for an admin. @returns null for one that is unknown or has no key */
export function readSealedAccount(
  client: ClientBase,
  workspaceId: string,
  id: string,
): Promise<SealedAccount | null> {
  return callFunction(client, "private.read_provider_account", workspaceId, id);
}
