import { isDeepStrictEqual } from "node:util";
import type { PoolClient } from "pg";
import { requireMembership } from "@/lib/access/workspaces/membership";
import type { Membership } from "@/lib/contract/access/me";
import type {
  DecideRecommendation,
  Recommendation,
  RecommendationList,
} from "@/lib/contract/spend/recommendations";
import { clockOf } from "@/lib/contract/values/clock";
import { ExactNumber } from "@/lib/contract/values/exact-number";
import { dayOf, toInstant } from "@/lib/contract/values/instant";
import {
  asKey,
  asServiceWithin,
  asUser,
  asUserReading,
  type KeyClaims,
  type UserClaims,
} from "@/lib/db/transaction";
import { compare, type Decimal, parseDecimal, subtract, sum } from "@/lib/decimal";
import { notFound, ServiceError, validationFailed } from "@/lib/errors";
import { lockOpenDisputes, settlePrices } from "@/lib/ledger/custom-prices/disputed-prices";
import { loadKeyClock } from "@/lib/ledger/days";
import { toExact } from "@/lib/ledger/pricing/exact";
import { type DisputedRate, joinDisputes } from "./disputed-price";
import { subjectKey } from "./find";
import {
  type RecommendationRow,
  requestRun,
  selectRecommendations,
  selectRun,
  updateDecision,
} from "./recommendation-queries";
import type { UsageSubject } from "./usage-queries";
import { describeRecommendation } from "./wording";

const decidingRoles = ["owner", "admin"];

/** Lists a workspace's recommendations, for its members. @throws ServiceError not_found */
export function listRecommendations(claims: UserClaims, slug: string): Promise<RecommendationList> {
  return asUserReading(claims, async (client, now) => {
    const { id, role, time_zone: zone } = await requireMembership(client, claims, slug);
    return loadRecommendations(client, id, todayIn(zone, now), { canDecide: decidingRoles.includes(role) });
  });
}

/**
 * How many savings are open, what they would have saved, USD as exact text, and how many prices are disputed, for a member.
 * @throws ServiceError not_found
 */
export async function readRecommended(
  claims: UserClaims,
  slug: string,
): Promise<{ count: number; saving: string; disputed: number }> {
  const { recommendations, open_usd: saving } = await listRecommendations(claims, slug);
  const open = recommendations.filter(({ state }) => state === "open");
  const disputed = open.filter(({ kind }) => kind === "disputed_price").length;
  const text = typeof saving === "number" ? String(saving) : saving.text;
  return { count: open.length - disputed, saving: text, disputed };
}

/** Like `listRecommendations`, for a key that may read all live spend; others see none. Nor does a key see those of seats. */
export function listRecommendationsOfKey(claims: KeyClaims): Promise<RecommendationList> {
  return asKey(claims, async (client, now) => {
    const clock = await loadKeyClock(client, claims.workspace_id, now);
    return loadRecommendations(client, claims.workspace_id, dayOf(clock.now), { forKey: true });
  });
}

/**
 * Decides a recommendation as an admin, or takes a decision back. To accept a disputed price sets the workspace's own prices.
 * @throws ServiceError not_found, permission_denied, validation_failed; conflict if somebody decided it meanwhile, if a disputed price
 *   is not what it was any more, and to reopen one that was settled
 */
export function decideRecommendation(
  claims: UserClaims,
  slug: string,
  recommendationId: string,
  { decision, reason, until }: DecideRecommendation,
): Promise<Recommendation> {
  return asUser(claims, async (client, now) => {
    const { id, time_zone: zone } = await requireMembership(client, claims, slug, "admin");
    const today = todayIn(zone, now);
    const [known] = await selectRecommendations(client, id, { id: recommendationId });
    if (!known) throw notFound();
    if (until !== undefined && until < today)
      throw validationFailed([{ path: "until", message: `must be ${today} or later` }]);
    const isDispute = known.kind === "disputed_price";
    if (isDispute && decision === "reopen" && known.decision === "accepted")
      throw new ServiceError("conflict", isSettled);
    const isDone = await updateDecision(
      client,
      id,
      recommendationId,
      {
        decision: stored[decision],
        reason: reason?.trim() ?? null,
        until: until ?? null,
      },
      decision === "reopen" ? ["accepted", "declined", "later"] : [null, "later"],
    );
    if (isDone && isDispute && decision === "accept")
      await settleDispute(client, { id, time_zone: zone }, known, now);
    const [row] = await selectRecommendations(client, id, { id: recommendationId });
    if (!row) throw notFound();
    if (isDone) return toRecommendation(row, today);
    const { state } = toRecommendation(row, today);
    throw new ServiceError(
      "conflict",
      state === "open"
        ? "This recommendation is open already."
        : `This recommendation is ${state} already. Reopen it to decide again.`,
    );
  });
}

const isSettled =
  "Its price is your own now, so there is nothing to reopen. Set another price in the settings, under Prices.";

/**
 * Sets the other prices of a dispute as the workspace's own, from the first of this month (UTC) on, as the settings of prices do.
 * @throws ServiceError conflict if the dispute is not as it was computed
 */
async function settleDispute(
  client: PoolClient,
  workspace: Pick<Membership, "id" | "time_zone">,
  { provider, subject: { model = "", prices = [] } }: RecommendationRow,
  now: number,
): Promise<void> {
  const disputes = await lockOpenDisputes(client, workspace.id, { provider, model }, now);
  const [present] = joinDisputes(disputes.map((dispute) => ({ provider, model, ...dispute })));
  if (!isDeepStrictEqual(present?.prices, prices))
    throw new ServiceError(
      "conflict",
      "These are not the disputed prices any more: a catalogue changed one, or you have a price of your own since. Compute the recommendations again, or set a price in the settings, under Prices.",
    );
  const startsAt = Date.parse(`${dayOf(now).slice(0, 7)}-01T00:00:00Z`);
  const rates = prices.map(({ unit_type: unitType, other: { rate } }) => ({ unitType, rate }));
  await settlePrices(client, workspace, { provider, model, rates, startsAt });
}

const stored = { accept: "accepted", decline: "declined", later: "later", reopen: null } as const;

/**
 * Has the recommendations computed within a minute, for an admin.
 * @throws ServiceError not_found, permission_denied, conflict within ten minutes of the last computation
 */
export function refreshRecommendations(claims: UserClaims, slug: string): Promise<RecommendationList> {
  return asUser(claims, async (client, now) => {
    const { id, time_zone: zone } = await requireMembership(client, claims, slug, "admin");
    if (!(await asServiceWithin(client, () => requestRun(client, id))))
      throw new ServiceError(
        "conflict",
        "They were computed less than ten minutes ago. Try again ten minutes after the last computation.",
      );
    return loadRecommendations(client, id, todayIn(zone, now), { canDecide: true });
  });
}

const todayIn = (zone: string, now: number) => dayOf(clockOf(zone, now).now);

async function loadRecommendations(
  client: PoolClient,
  workspaceId: string,
  today: string,
  { canDecide = false, forKey = false },
): Promise<RecommendationList> {
  const run = await selectRun(client, workspaceId);
  const rows = await selectRecommendations(client, workspaceId, { forKey });
  const listed = rows.map((row) => ({ row, shown: toRecommendation(row, today) }));
  const open = listed.filter(({ shown }) => shown.state === "open");
  const others = listed.filter(({ shown }) => shown.state !== "open");
  return {
    computed_at: run?.computed_at ? toInstant(run.computed_at.getTime()) : null,
    next_at: run ? toInstant(run.next_at.getTime()) : null,
    open_usd: toExact(sumSavings(open.map(({ row }) => row))),
    recommendations: [...open, ...others].map(({ shown }) => shown),
    can_decide: canDecide,
  };
}

/** What recommendations would save together: of several about the same usage, only the largest counts. Disputed prices are left out. */
export function sumSavings(
  rows: readonly Pick<RecommendationRow, "kind" | "subject" | "recorded_usd" | "repriced_usd">[],
): Decimal {
  const largest = new Map<string, Decimal>();
  for (const row of rows) {
    if (row.kind === "disputed_price") continue;
    const key = row.subject.account_id ?? subjectKey(row.subject as UsageSubject);
    const saving = subtract(parseDecimal(row.recorded_usd), parseDecimal(row.repriced_usd));
    const known = largest.get(key);
    if (!known || compare(saving, known) > 0) largest.set(key, saving);
  }
  return sum(largest.values());
}

function toRecommendation(row: RecommendationRow, today: string): Recommendation {
  const { subject, kind, decision, project_slug: slug, project_name: name } = row;
  const { model = null, feature = null, tier = null, target = null } = subject;
  const records = Number(row.records);
  const recorded = parseDecimal(row.recorded_usd);
  const repriced = parseDecimal(row.repriced_usd);
  const isOpen = decision === null || (decision === "later" && row.until !== null && row.until < today);
  return {
    id: row.id,
    kind,
    state: isOpen ? "open" : decision,
    ...describeRecommendation({
      ...{ kind, provider: row.provider, model, feature, tier, target, records, counts: row.counts },
      projectName: name,
    }),
    saving_usd: toExact(subtract(recorded, repriced)),
    recorded_usd: toExact(recorded),
    repriced_usd: toExact(repriced),
    records,
    from: row.first_day,
    to: row.last_day,
    computed_at: toInstant(row.computed_at.getTime()),
    project: slug !== null && name !== null ? { slug, name } : null,
    provider: row.provider,
    model,
    feature,
    target,
    prices: subject.prices?.map(toPrices) ?? null,
    activity_query: slug === null && kind !== "disputed_price" ? null : activityQueryOf(row, slug),
    decision:
      isOpen || row.decided_at === null
        ? null
        : {
            by:
              row.decided_by !== null && row.decider_name !== null
                ? { id: row.decided_by, name: row.decider_name }
                : null,
            at: toInstant(row.decided_at.getTime()),
            reason: row.reason,
            until: row.until,
          },
    saved: savedOf(row),
  };
}

function toPrices({ unit_type, applied, other }: DisputedRate) {
  const exact = ({ source, rate }: DisputedRate["other"]) => ({ source, rate: new ExactNumber(rate) });
  return { unit_type, applied: exact(applied), other: exact(other) };
}

/** The query of activity that lists the rows of a recommendation, and no others. @param project null for all */
function activityQueryOf(
  { kind, subject, first_day, last_day }: RecommendationRow,
  project: string | null,
): string {
  const { provider = "", model = "", feature, tier } = subject;
  return new URLSearchParams({
    ...{ period: "range", from: first_day, to: last_day, environment: "live", type: "usage" },
    ...(project !== null && { project, feature: feature ?? "" }),
    ...{ provider, model, cost_status: "priced", standing: "true" },
    ...(tier && { tier }),
    ...(kind === "batch_tier" && { session: "", user: "" }),
  }).toString();
}

function savedOf(row: RecommendationRow): Recommendation["saved"] {
  const { saved_recorded_usd, saved_before_usd, saved_records, saved_from: from, saved_to: to } = row;
  if (saved_recorded_usd === null || saved_before_usd === null || from === null || to === null) return null;
  const [recorded, before] = [parseDecimal(saved_recorded_usd), parseDecimal(saved_before_usd)];
  return {
    amount_usd: toExact(subtract(before, recorded)),
    recorded_usd: toExact(recorded),
    before_usd: toExact(before),
    records: Number(saved_records),
    from,
    to,
  };
}
