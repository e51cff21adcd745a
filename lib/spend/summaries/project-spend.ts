import type { ClientBase } from "pg";
import type { z } from "zod";
import type { projectSpend } from "@/lib/contract/spend/reads";
import { type Clock, clockOf } from "@/lib/contract/values/clock";
import { ExactNumber } from "@/lib/contract/values/exact-number";
import { firstInstantMs, lastInstantMs } from "@/lib/contract/values/fields";
import { dayOf, exactMs, toInstant } from "@/lib/contract/values/instant";
import { monthOf } from "@/lib/contract/values/month";
import { asKey, type KeyClaims } from "@/lib/db/transaction";
import { compare, parseDecimal, sum } from "@/lib/decimal";
import { notFound, validationFailed } from "@/lib/errors";
import { firstDayFrom, loadKeyClock, startOf } from "@/lib/ledger/days";
import { toExact } from "@/lib/ledger/pricing/exact";
import { removedWithin } from "@/lib/spend/removed-messages";
import {
  type RowOrder,
  type SpendSlice,
  selectFirstRows,
  selectProject,
  selectSpendSlices,
} from "./summary-queries";

/** The types that do not count as usage. */
const otherKinds: (string | null)[] = ["subscription", "expense", "bill_adjustment"];

/** The most rows in a project's spend. */
const maxRows = 200;

/**
 * Reads what a project spent in a range, by default in the current month of the workspace. If only one end is given, the other is
 * that of the current month, or of the given end's month if the range would otherwise be empty.
 * @throws ServiceError not_found if the project does not exist or the key may not see it, validation_failed for a range
 *   that begins or ends within a day whose messages were removed
 */
export async function readProjectSpend(
  claims: KeyClaims,
  slug: string,
  { sort = "-time", ...range }: { from?: string | undefined; to?: string | undefined; sort?: RowOrder },
): Promise<z.output<typeof projectSpend>> {
  return asKey(claims, async (client, now) => {
    const clock = await loadKeyClock(client, claims.workspace_id, now);
    const { timeZone } = clock;
    const [from, to] = endsOf(range, clock);
    const project = await selectProject(client, claims.workspace_id, slug);
    if (!project) throw notFound();
    await requireWholeDays(client, claims.workspace_id, { from, to }, timeZone);
    const slices = await selectSpendSlices(client, project, from, to, timeZone, claims.users !== undefined);
    const of = (dimension: SpendSlice["dimension"]) =>
      slices.filter((slice) => slice.dimension === dimension);
    const types = of("type");
    const rows = await selectFirstRows(client, project, from, to, {
      sort,
      timeZone,
      isOfUsers: claims.users !== undefined,
      limit: maxRows,
    });
    return {
      project: { id: project.id, slug: project.slug, name: project.name },
      from: toInstant(Date.parse(from)),
      to: toInstant(Date.parse(to)),
      total_usd: sumOf(types),
      usage_usd: sumOf(types.filter(({ value }) => !otherKinds.includes(value))),
      subscription_usd: sumOf(types.filter(({ value }) => value === "subscription")),
      expense_usd: sumOf(types.filter(({ value }) => value === "expense")),
      adjustment_usd: sumOf(types.filter(({ value }) => value === "bill_adjustment")),
      message_count: types.reduce((count, slice) => count + Number(slice.message_count), 0),
      unpriced_count: types.reduce((count, slice) => count + Number(slice.unpriced_count), 0),
      by_model: byAmount(of("model")).map(([model, total_usd]) => ({ model, total_usd })),
      by_feature: byAmount(of("feature")).map(([feature, total_usd]) => ({ feature, total_usd })),
      daily: of("day").map(({ value, amount_usd }) => ({
        day: value ?? "",
        total_usd: toExact(parseDecimal(amount_usd)),
      })),
      rows: rows.map(({ type, occurred_at, created_at, amount_usd, quantity, ...row }) => ({
        ...row,
        message_type: type,
        occurred_at: toInstant(occurred_at.getTime()),
        created_at: toInstant(created_at.getTime()),
        amount_usd: new ExactNumber(amount_usd),
        quantity: quantity === null ? null : new ExactNumber(quantity),
      })),
    };
  });
}

/** Refuses a range that begins or ends within a day whose messages were removed, because only the day's sums are left. */
async function requireWholeDays(
  client: ClientBase,
  workspaceId: string,
  ends: { from: string; to: string },
  timeZone: string,
): Promise<void> {
  const cut = Object.entries(ends).filter(
    ([, end]) => startOf(timeZone, firstDayFrom(timeZone, exactMs(end))) !== exactMs(end),
  );
  if (cut.length === 0) return;
  const removedBefore = await removedWithin(
    client,
    workspaceId,
    { from: dayOf(clockOf(timeZone, Date.parse(ends.from)).now) },
    "outlay_key",
  );
  if (removedBefore === null) return;
  const issues = cut
    .filter(([, end]) => exactMs(end) < startOf(timeZone, removedBefore))
    .map(([path]) => ({
      path,
      message: `must be midnight in ${timeZone}: messages before ${removedBefore} were removed, and only the sums of whole days were kept`,
    }));
  if (issues.length > 0) throw validationFailed(issues);
}

/** The first instant of a range and the instant after its last, ISO 8601; given ends are returned unchanged. */
function endsOf(
  range: { from?: string | undefined; to?: string | undefined },
  { instant: now, timeZone }: Clock,
): [from: string, to: string] {
  // `to` is exclusive: midnight of the 1st ends the month before.
  const last = range.to === undefined ? now : Math.max(Date.parse(range.to) - 1, firstInstantMs);
  const first = range.from === undefined ? now : Date.parse(range.from);
  const month = (instant: number) => monthOf(clockOf(timeZone, instant).now);
  return [
    range.from ?? toInstant(startOf(timeZone, month(Math.min(last, now)).from)),
    range.to ?? toInstant(Math.min(startOf(timeZone, month(Math.max(first, now)).until), lastInstantMs)),
  ];
}

function sumOf(slices: SpendSlice[]): ExactNumber {
  return toExact(sum(slices.map((slice) => parseDecimal(slice.amount_usd))));
}

/** The sums by a dimension, highest first. Spend without a value is a slice with the value null, so slices sum to the total. */
function byAmount(slices: SpendSlice[]): [string | null, ExactNumber][] {
  return slices
    .map(({ value, amount_usd }) => ({ value, amount: parseDecimal(amount_usd) }))
    .sort((a, b) => compare(b.amount, a.amount))
    .map(({ value, amount }) => [value, toExact(amount)]);
}
