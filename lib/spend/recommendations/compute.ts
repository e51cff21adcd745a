import type { ClientBase } from "pg";
import { clockOf } from "@/lib/contract/values/clock";
import { dayOf } from "@/lib/contract/values/instant";
import { deadlines } from "@/lib/db/deadlines";
import { asKey, type KeyClaims } from "@/lib/db/transaction";
import { compare, type Decimal, multiply, parseDecimal, toText } from "@/lib/decimal";
import { readOpenDisputes } from "@/lib/ledger/custom-prices/disputed-prices";
import type { ZonedDays } from "@/lib/ledger/days";
import { followPublished } from "@/lib/ledger/published/follow";
import { addDays } from "@/lib/spend/period";
import { findCacheable, findCaching, mergeCalls } from "./caching";
import { selectUncachedCalls } from "./caching-queries";
import { type DisputedPrice, joinDisputes, measureDisputes, ofModel, priceUnsettled } from "./disputed-price";
import {
  type FoundChange,
  findChanges,
  leastWorth,
  type Measured,
  measureGroups,
  mergeGroups,
  subjectKey,
  type UsageChange,
} from "./find";
import { type ClaimedRun, claimRun, readUnusedSeats, storeRun } from "./recommendation-queries";
import { repriceGroup, repriceUncached } from "./reprice";
import {
  selectSpend,
  selectSubjects,
  selectSubjectsOf,
  selectUsageGroups,
  type UsageGroup,
  type UsageSubject,
} from "./usage-queries";

/** The days that recommendations are computed from, today not included. */
const windowDays = 30;

/** The most days since a decision of which savings are measured. */
const measuredDays = 90;

/**
 * Computes the recommendations that are due. Several processes may run it at once: each takes other workspaces.
 * @param at the time of the computation; tests set it
 * @returns how many recommendations were found. @throws ServiceError unavailable
 */
export async function computeRecommendations(at: Date = new Date()): Promise<number> {
  await followPublished();
  let found = 0;
  for (;;) {
    const run = await claimRun();
    if (!run) return found;
    found += await computeRun(run, at);
  }
}

async function computeRun(
  { workspace_id: id, time_zone: timeZone, accepted }: ClaimedRun,
  at: Date,
): Promise<number> {
  const today = dayOf(clockOf(timeZone, at.getTime()).now);
  const days = { from: addDays(today, -windowDays), until: today, timeZone };
  const reader = { id, workspace_id: id, environment: "live" as const, allow: null, deny: [] };
  const read = <T>(run: (client: Parameters<Parameters<typeof asKey>[1]>[0]) => Promise<T>) =>
    asKey(reader, run, deadlines.job);
  const least = leastWorth(parseDecimal(await read((client) => selectSpend(client, id, days))));
  const subjects = await read((client) => selectSubjects(client, id, days, toText(least)));
  const groups = await readGroups(reader, days, subjects);
  const cacheable = findCacheable(groups, at);
  const calls = await readDaily(reader, days, cacheable, selectUncachedCalls, mergeCalls);
  const changes = [...findChanges(groups, least, at), ...findCaching(groups, calls, least, at)];
  const disputes = joinDisputes(await readOpenDisputes(reader, at.getTime()));
  const disputed = measureDisputes(disputes, await readModels(reader, days, disputes), least);
  const seats = await readUnusedSeats(id);
  const saved = [];
  for (const { id: recommendation, subject, decided_at } of accepted) {
    const decidedOn = dayOf(clockOf(timeZone, Date.parse(decided_at)).now);
    const from = [addDays(decidedOn, 1), addDays(today, -measuredDays)].sort().at(-1) ?? today;
    if (from >= today) continue;
    const since = { from, until: today, timeZone };
    const figures =
      subject.kind === "disputed_price"
        ? measureSettled(subject, await readModels(reader, since, [subject]), at)
        : measureSaved(subject, await readGroups(reader, since, [changedSubject(subject)]), at);
    if (figures.records === 0) continue;
    saved.push({ id: recommendation, ...figures, from, to: addDays(today, -1) });
  }
  return storeRun({
    workspace_id: id,
    computed_at: at.toISOString(),
    first_day: days.from,
    last_day: addDays(today, -1),
    found: [
      ...[...changes, ...disputed].map(toStored),
      ...seats.flatMap(({ account_id, provider, unused, seat_usd }) => {
        const cost = multiply(parseDecimal(seat_usd), parseDecimal(unused));
        if (compare(cost, least) < 0) return [];
        const amounts = { recorded_usd: toText(cost), repriced_usd: "0", records: unused };
        return [{ kind: "unused_seats", subject: { account_id }, provider, ...amounts }];
      }),
    ],
    saved,
  });
}

const readGroups = (reader: KeyClaims, days: ZonedDays, subjects: readonly UsageSubject[]) =>
  readDaily(reader, days, subjects, selectUsageGroups, mergeGroups);

/** Reads all usage of models. */
async function readModels(
  reader: KeyClaims,
  days: ZonedDays,
  models: readonly Pick<UsageSubject, "provider" | "model">[],
): Promise<UsageGroup[]> {
  if (models.length === 0) return [];
  const select = (client: ClientBase) => selectSubjectsOf(client, reader.workspace_id, days, models);
  return readGroups(reader, days, await asKey(reader, select, deadlines.job));
}

/** Reads usage of subjects day by day, so that no statement is long where much is recorded. */
async function readDaily<Subject, Found>(
  reader: KeyClaims,
  days: ZonedDays,
  subjects: readonly Subject[],
  select: (
    client: ClientBase,
    workspaceId: string,
    days: ZonedDays,
    subjects: readonly Subject[],
  ) => Promise<Found[]>,
  merge: (found: readonly Found[]) => Found[],
): Promise<Found[]> {
  if (subjects.length === 0) return [];
  let found: Found[] = [];
  for (let day = days.from; day < days.until; day = addDays(day, 1)) {
    const ofDay = { ...days, from: day, until: addDays(day, 1) };
    const read = (client: ClientBase) => select(client, reader.workspace_id, ofDay, subjects);
    found = merge([...found, ...(await asKey(reader, read, deadlines.job))]);
  }
  return found;
}

function toStored(found: FoundChange | (DisputedPrice & Measured & { counts?: undefined })) {
  const { kind, shown_provider, recorded, repriced, records, counts, ...subject } = found;
  return {
    kind,
    subject,
    provider: shown_provider,
    recorded_usd: toText(recorded),
    repriced_usd: toText(repriced),
    records,
    counts,
  };
}

/** The usage after a change. */
const changedSubject = (change: UsageChange): UsageSubject =>
  change.kind === "smaller_model" ? { ...change, model: change.target } : change;

/** What usage after a change cost, and what it would have cost before, USD as exact text. */
function measureSaved(change: UsageChange, groups: readonly UsageGroup[], at: Date) {
  const own = groups.filter((group) => isAfter(group, change));
  return toSaved(measureGroups(own, (group) => priceBefore(group, change, at)));
}

/** Like `measureSaved`, of all usage of a model whose prices were settled. */
function measureSettled(dispute: DisputedPrice, groups: readonly UsageGroup[], at: Date) {
  return toSaved(measureGroups(ofModel(groups, dispute), (group) => priceUnsettled(group, dispute, at)));
}

const toSaved = ({ recorded, repriced, records }: Measured) => ({
  recorded_usd: toText(recorded),
  before_usd: toText(repriced),
  records,
});

/** Whether usage is at the target of a change. Of prompt caching all is: what was not cached costs what it did. */
function isAfter(group: UsageGroup, change: UsageChange): boolean {
  if (subjectKey(group) !== subjectKey(changedSubject(change))) return false;
  if (change.kind === "smaller_model" || change.kind === "prompt_caching") return true;
  return group.tier === change.target && (change.kind !== "batch_tier" || group.is_unattended);
}

function priceBefore(group: UsageGroup, { kind, model, tier }: UsageChange, at: Date): Decimal {
  if (kind === "prompt_caching") return repriceUncached(group, at);
  return repriceGroup(group, kind === "smaller_model" ? { model } : { tier: tier ?? "standard" }, at);
}
