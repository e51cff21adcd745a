import { clockOf } from "@/lib/contract/values/clock";
import { dayOf } from "@/lib/contract/values/instant";
import { deadlines } from "@/lib/db/deadlines";
import { asKey, type KeyClaims } from "@/lib/db/transaction";
import { compare, multiply, parseDecimal, sum, toText } from "@/lib/decimal";
import { followPublished } from "@/lib/ledger/published/follow";
import { addDays } from "@/lib/spend/period";
import { type FoundChange, findChanges, leastWorth, mergeGroups, subjectKey, type UsageChange } from "./find";
import { type ClaimedRun, claimRun, readUnusedSeats, storeRun } from "./recommendation-queries";
import { repriceGroup } from "./reprice";
import {
  selectSpend,
  selectSubjects,
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
  const changes = findChanges(await readGroups(reader, days, subjects), least, at);
  const seats = await readUnusedSeats(id);
  const saved = [];
  for (const { id: recommendation, subject, decided_at } of accepted) {
    const decidedOn = dayOf(clockOf(timeZone, Date.parse(decided_at)).now);
    const from = [addDays(decidedOn, 1), addDays(today, -measuredDays)].sort().at(-1) ?? today;
    if (from >= today) continue;
    const groups = await readGroups(reader, { from, until: today, timeZone }, [changedSubject(subject)]);
    const figures = measureSaved(subject, groups, at);
    if (figures.records === 0) continue;
    saved.push({ id: recommendation, ...figures, from, to: addDays(today, -1) });
  }
  return storeRun({
    workspace_id: id,
    computed_at: at.toISOString(),
    first_day: days.from,
    last_day: addDays(today, -1),
    found: [
      ...changes.map(toStored),
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

/** Reads usage day by day, so that no statement is long where much is recorded. */
async function readGroups(
  reader: KeyClaims,
  { from, until, timeZone }: { from: string; until: string; timeZone: string },
  subjects: readonly UsageSubject[],
): Promise<UsageGroup[]> {
  if (subjects.length === 0) return [];
  let groups: UsageGroup[] = [];
  for (let day = from; day < until; day = addDays(day, 1)) {
    const ofDay = await asKey(
      reader,
      (client) =>
        selectUsageGroups(
          client,
          reader.workspace_id,
          { from: day, until: addDays(day, 1), timeZone },
          subjects,
        ),
      deadlines.job,
    );
    groups = mergeGroups([...groups, ...ofDay]);
  }
  return groups;
}

function toStored(change: FoundChange) {
  const { kind, shown_provider, recorded, repriced, records, ...subject } = change;
  return {
    kind,
    subject,
    provider: shown_provider,
    recorded_usd: toText(recorded),
    repriced_usd: toText(repriced),
    records,
  };
}

/** The usage after a change. */
const changedSubject = (change: UsageChange): UsageSubject =>
  change.kind === "smaller_model" ? { ...change, model: change.target } : change;

/** What usage after a change cost, and what it would have cost before, USD as exact text. */
function measureSaved(change: UsageChange, groups: readonly UsageGroup[], at: Date) {
  const own = groups.filter(
    (group) =>
      subjectKey(group) === subjectKey(changedSubject(change)) &&
      (change.kind === "smaller_model" || group.tier === change.target) &&
      (change.kind !== "batch_tier" || group.is_unattended),
  );
  const before =
    change.kind === "smaller_model"
      ? { model: change.model }
      : { tier: change.tier ?? ("standard" as const) };
  return {
    recorded_usd: toText(sum(own.map(({ amount_usd }) => parseDecimal(amount_usd)))),
    before_usd: toText(sum(own.map((group) => repriceGroup(group, before, at)))),
    records: own.reduce((count, { records }) => count + Number(records), 0),
  };
}
