import type { PoolClient } from "pg";
import type { z } from "zod";
import { requireMembership } from "@/lib/access/workspaces/membership";
import type { Membership } from "@/lib/contract/access/me";
import type {
  ClosedMonthList,
  closedMonths,
  LedgerMonth,
  reopenRequest,
} from "@/lib/contract/ledger/closed-months";
import { clockOf } from "@/lib/contract/values/clock";
import { ExactNumber } from "@/lib/contract/values/exact-number";
import { dayOf, toInstant } from "@/lib/contract/values/instant";
import {
  asKey,
  asServiceWithin,
  asUser,
  asUserReading,
  type KeyClaims,
  sqlState,
  type UserClaims,
} from "@/lib/db/transaction";
import { parseDecimal, sum, toText } from "@/lib/decimal";
import { notFound, ServiceError, validationFailed } from "@/lib/errors";
import { startOf } from "@/lib/ledger/days";
import { addMonths } from "@/lib/ledger/recurring/periods";
import {
  type ClosingRow,
  closeMonths,
  reopenMonth,
  selectAdjustments,
  selectClosedUntil,
  selectClosings,
  selectFiledPart,
  selectOpenMonths,
} from "./closing-queries";
import { fileClosedMonths, readFiledExport } from "./filed-export";

/** How long after its end a month can first be closed; `private.closing_delay` has the same time. */
const delayMs = 2 * 86_400_000;

/** The SQLSTATE that `private.close_months` and `private.reopen_month` raise if the months changed since they were read. */
const wrongState = "55000";

/** The first day of the month after `YYYY-MM`. */
const dayAfter = (month: string) => addMonths(`${month}-01`, 1);
const closableFrom = (month: string, timeZone: string) => startOf(timeZone, dayAfter(month)) + delayMs;

/** A workspace's months with their figures, and which are closed. @throws ServiceError not_found */
export function listClosedMonths(claims: UserClaims, slug: string): Promise<ClosedMonthList> {
  return asUserReading(claims, async (client, now) => {
    return loadClosedMonths(client, await requireMembership(client, claims, slug), now);
  });
}

/** Like `listClosedMonths`, in the caller's transaction. @param now milliseconds since 1970 */
export async function loadClosedMonths(
  client: PoolClient,
  { id: workspaceId, time_zone: timeZone }: Pick<Membership, "id" | "time_zone">,
  now: number,
): Promise<ClosedMonthList> {
  const closedUntil = await selectClosedUntil(client, workspaceId);
  const closings = await selectClosings(client, workspaceId);
  const open = await selectOpenMonths(client, workspaceId, closedUntil);
  const adjustments = await selectAdjustments(client, workspaceId, timeZone);
  const usdOf = (found: typeof adjustments) =>
    toText(sum(found.map((each) => parseDecimal(each.amount_usd))));
  const present = dayOf(clockOf(timeZone, now).now).slice(0, 7);
  const current = closings.filter(({ reopened_at }) => reopened_at === null);
  const known = [...current, ...open].map(({ month }) => month).sort();
  const months: LedgerMonth[] = [];
  for (let month = known[0] ?? present; month <= present; month = dayAfter(month).slice(0, 7)) {
    const closing = current.find((each) => each.month === month);
    const figures = closing ?? open.find((each) => each.month === month);
    const later = adjustments.filter(({ adjusts }) => adjusts === month);
    const booked = closing?.adjustments_usd ?? usdOf(adjustments.filter((each) => each.booked === month));
    months.unshift({
      month,
      ...toFigures({ ...(figures ?? nothing), adjustments_usd: booked }),
      later_adjustments_usd: new ExactNumber(usdOf(later)),
      later_adjustment_count: later.reduce((count, { entry_count }) => count + entry_count, 0),
      closable_from: toInstant(closableFrom(month, timeZone)),
      can_close: !closing && closableFrom(month, timeZone) <= now,
      closing: closing ? toClosing(closing) : null,
    });
  }
  const reopened = closings.filter(({ reopened_at }) => reopened_at !== null).map(toClosing);
  return { closed_until: closedUntil, months, reopened };
}

/** The figures of the closed months, for a key that sees all live spend; no months for other keys. */
export function readClosedMonths(claims: KeyClaims): Promise<z.output<typeof closedMonths>> {
  return asKey(claims, async (client) => {
    const closings = await selectClosings(client, claims.workspace_id);
    const current = closings.filter(({ reopened_at }) => reopened_at === null);
    return {
      closed_until: current[0] ? dayAfter(current[0].month) : null,
      months: current.map((row) => ({
        month: row.month,
        ...toFigures(row),
        closed_at: toInstant(row.closed_at.getTime()),
        sha256: row.sha256,
      })),
    };
  });
}

/**
 * Closes a month and all open months before it, for admins. Their figures stay as they are; a cost of these months that is recorded
 * later is booked at the time of recording, as an adjustment. Returns after the exports are filed.
 * @param month `YYYY-MM`
 * @throws ServiceError not_found, permission_denied; conflict for a closed month, and while the time zone is being changed;
 *   validation_failed for a month that cannot be closed yet
 */
export async function closeMonth(claims: UserClaims, slug: string, month: string): Promise<ClosedMonthList> {
  const workspaceId = await asUser(claims, async (client, now) => {
    const { id, ...workspace } = await requireMembership(client, claims, slug, "admin");
    if (workspace.next_time_zone !== null)
      throw new ServiceError(
        "conflict",
        `The days are being summed anew for ${workspace.next_time_zone}. Close the month when that is done.`,
      );
    const closedUntil = await selectClosedUntil(client, id);
    if (closedUntil !== null && `${month}-01` < closedUntil) throw isClosedBefore(month);
    const from = closableFrom(month, workspace.time_zone);
    if (from > now) {
      const text = `can be closed from ${toInstant(from)} on, two days after its end`;
      throw validationFailed([{ path: "month", message: text }]);
    }
    await asServiceWithin(client, () => closeMonths(client, id, `${month}-01`)).catch((error) => {
      if (sqlState(error) === wrongState) throw isClosedBefore(month);
      throw error;
    });
    return id;
  });
  await fileClosedMonths(workspaceId);
  return listClosedMonths(claims, slug);
}

function isClosedBefore(month: string): ServiceError {
  return new ServiceError("conflict", `${month} is closed already.`, { month });
}

/**
 * Reopens the last closed month, for admins. Adjustments of the month stay where they are booked, and its filed export is kept.
 * @throws ServiceError not_found, permission_denied; conflict for a month that is reopened already or is not the last closed one
 */
export function reopenClosedMonth(
  claims: UserClaims,
  slug: string,
  closingId: string,
  { reason }: z.output<typeof reopenRequest>,
): Promise<ClosedMonthList> {
  return asUser(claims, async (client, now) => {
    const workspace = await requireMembership(client, claims, slug, "admin");
    const { id } = workspace;
    if ((await selectClosings(client, id, closingId)).length === 0) throw notFound();
    await asServiceWithin(client, () => reopenMonth(client, id, closingId, reason)).catch((error) => {
      if (sqlState(error) !== wrongState) throw error;
      throw new ServiceError(
        "conflict",
        "Only the last closed month can be reopened, once its export is filed. Of several, reopen the latest first.",
      );
    });
    return loadClosedMonths(client, workspace, now);
  });
}

/**
 * The filed export of a closing: the same bytes each time.
 * @throws ServiceError not_found; conflict while it is still being written
 */
export async function readClosedMonth(
  claims: UserClaims,
  slug: string,
  closingId: string,
): Promise<{ bytes: AsyncGenerator<Uint8Array>; fileName: string; sha256: string }> {
  const open = async (client: PoolClient) => {
    const { id } = await requireMembership(client, claims, slug);
    const [closing] = await selectClosings(client, id, closingId);
    if (!closing) throw notFound();
    return { id, closing };
  };
  const { closing } = await asUserReading(claims, open);
  if (closing.sha256 === null) {
    throw new ServiceError("conflict", "The export is still being written. Try again in a minute.");
  }
  const bytes = readFiledExport((part) =>
    asUserReading(claims, async (client) => {
      const { id } = await open(client);
      return asServiceWithin(client, () => selectFiledPart(client, id, closingId, part));
    }),
  );
  return { bytes, fileName: `${slug}-${closing.month}-closed.csv`, sha256: closing.sha256 };
}

const nothing = { amount_usd: "0", message_count: "0", unpriced_count: "0" };

function toFigures(
  row: Pick<ClosingRow, "amount_usd" | "adjustments_usd" | "message_count" | "unpriced_count">,
) {
  return {
    amount_usd: new ExactNumber(row.amount_usd),
    adjustments_usd: new ExactNumber(row.adjustments_usd),
    message_count: Number(row.message_count),
    unpriced_count: Number(row.unpriced_count),
  };
}

function toClosing(row: ClosingRow): NonNullable<LedgerMonth["closing"]> {
  const { id, month, sha256, reopen_reason, byte_count: bytes, reopened_at: reopenedAt } = row;
  return {
    id,
    month,
    ...toFigures(row),
    closed_at: toInstant(row.closed_at.getTime()),
    closed_by: row.closed_by_email,
    sha256,
    bytes: bytes === null ? null : Number(bytes),
    reopened_at: reopenedAt && toInstant(reopenedAt.getTime()),
    reopened_by: row.reopened_by_email,
    reopen_reason,
  };
}
