import type { ClientBase } from "pg";
import type { RecommendationKind } from "@/lib/contract/spend/recommendations";
import {
  bigint,
  boolean,
  date,
  json,
  nullable,
  numeric,
  type Row,
  text,
  timestamp,
  uuid,
} from "@/lib/db/columns";
import { callFunction, execute, selectAll, selectFirst } from "@/lib/db/query";
import { empty, sql } from "@/lib/db/sql";
import { callAsService } from "@/lib/db/transaction";
import type { DisputedPrice } from "./disputed-price";
import type { CacheCounts, UsageChange } from "./find";

/** What a stored recommendation is about: usage and its change, a disputed price, or the seats of a provider account. */
export type StoredSubject = Partial<Omit<UsageChange, "kind"> & Pick<DisputedPrice, "prices">> & {
  account_id?: string;
};

const recommendationRow = {
  id: uuid(),
  kind: text<RecommendationKind>(),
  subject: json<StoredSubject>(),
  provider: text(),
  is_current: boolean(),
  recorded_usd: numeric(),
  repriced_usd: numeric(),
  records: bigint(),
  first_day: date(),
  last_day: date(),
  computed_at: timestamp(),
  decision: nullable(text<"accepted" | "declined" | "later">()),
  reason: nullable(text()),
  until: nullable(date()),
  decided_by: nullable(uuid()),
  decider_name: nullable(text()),
  decided_at: nullable(timestamp()),
  saved_recorded_usd: nullable(numeric()),
  saved_before_usd: nullable(numeric()),
  saved_records: nullable(bigint()),
  saved_from: nullable(date()),
  saved_to: nullable(date()),
  counts: nullable(json<CacheCounts>()),
  project_slug: nullable(text()),
  project_name: nullable(text()),
};

/** A recommendation as stored, with the names of its project and of whoever decided it. */
export type RecommendationRow = Row<typeof recommendationRow>;

/**
 * The recommendations that the caller may see: those that were found last or decided, the largest first.
 * @param only.id this one. @param only.forKey without the names of people, which keys may not read
 */
export function selectRecommendations(
  client: ClientBase,
  workspaceId: string,
  { id, forKey = false }: { id?: string; forKey?: boolean } = {},
): Promise<RecommendationRow[]> {
  return selectAll(
    client,
    recommendationRow,
    sql`select r.id, r.kind, r.subject, r.provider, r.is_current, trim_scale(r.recorded_usd) as recorded_usd,
        trim_scale(r.repriced_usd) as repriced_usd, r.records, r.first_day, r.last_day, r.computed_at, r.decision, r.reason, r.until,
        r.decided_by, ${forKey ? sql`null::text` : sql`coalesce(p.display_name, p.email)`} as decider_name, r.decided_at,
        trim_scale(r.saved_recorded_usd) as saved_recorded_usd, trim_scale(r.saved_before_usd) as saved_before_usd, r.saved_records,
        r.saved_from, r.saved_to, r.counts, project.slug as project_slug, project.name as project_name
      from public.recommendations as r
      ${forKey ? empty : sql`left join public.profiles as p on p.id = r.decided_by`}
      left join public.projects as project
        on project.workspace_id = r.workspace_id and project.id = (r.subject ->> 'project_id')::uuid
      where r.workspace_id = ${workspaceId} ${id === undefined ? empty : sql`and r.id = ${id}`}
      order by abs(r.recorded_usd - r.repriced_usd) desc, r.id
      limit 500`,
  );
}

/** When the recommendations were computed, and when they are computed next; undefined before the first time. */
export function selectRun(client: ClientBase, workspaceId: string) {
  return selectFirst(
    client,
    { computed_at: nullable(timestamp()), next_at: timestamp() },
    sql`select computed_at, next_at from public.recommendation_runs where workspace_id = ${workspaceId}`,
  );
}

/**
 * Stores a decision as the transaction's user, if the present one is among some.
 * @param from the decisions that it may replace; null for none
 * @returns whether it was stored
 */
export async function updateDecision(
  client: ClientBase,
  workspaceId: string,
  id: string,
  decided: { decision: RecommendationRow["decision"]; reason: string | null; until: string | null },
  from: RecommendationRow["decision"][],
): Promise<boolean> {
  const changed = await execute(
    client,
    sql`update public.recommendations set decision = ${decided.decision}, reason = ${decided.reason}, until = ${decided.until}
      where workspace_id = ${workspaceId} and id = ${id} and coalesce(decision, 'open') = any (${from.map((each) => each ?? "open")}::text[])`,
  );
  return changed > 0;
}

// The rest runs as the service.

/** A workspace whose recommendations are to be computed, with those that were accepted. */
export type ClaimedRun = {
  workspace_id: string;
  time_zone: string;
  accepted: { id: string; subject: UsageChange | DisputedPrice; decided_at: string }[];
};

/** Takes a workspace whose recommendations are due; null if none is. */
export function claimRun(): Promise<ClaimedRun | null> {
  return callAsService("private.claim_recommendations");
}

/** Stores a computation. @returns how many recommendations it found */
export function storeRun(run: object): Promise<number> {
  return callAsService("private.store_recommendations", JSON.stringify(run));
}

/** Has the recommendations computed soon, for the transaction's user. @returns whether they are going to be */
export function requestRun(client: ClientBase, workspaceId: string): Promise<boolean> {
  return callFunction(client, "private.request_recommendations", workspaceId);
}

/** A provider account's seats. `seat_usd`: of a month, exact text. */
export type UnusedSeats = { account_id: string; provider: string; unused: number; seat_usd: string };

/** The accounts of which seats were unused for 30 days, at a known price. */
export function readUnusedSeats(workspaceId: string): Promise<UnusedSeats[]> {
  return callAsService("private.unused_seats", workspaceId);
}
