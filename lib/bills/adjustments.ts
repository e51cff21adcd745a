import type { PoolClient } from "pg";
import { requireMembership } from "@/lib/access/workspaces/membership";
import type { Membership } from "@/lib/contract/access/me";
import type {
  BillAdjustment,
  BillAdjustmentList,
  BookAdjustmentRequest,
} from "@/lib/contract/bills/bill-adjustments";
import { type BookablePart, bookableParts, differenceParts } from "@/lib/contract/bills/difference-parts";
import { ExactNumber } from "@/lib/contract/values/exact-number";
import { dayOf, toInstant } from "@/lib/contract/values/instant";
import { newId } from "@/lib/db/new-id";
import {
  asServiceWithin,
  asUser,
  asUserPreviewing,
  asUserReading,
  type UserClaims,
} from "@/lib/db/transaction";
import { compare, isZero, moneyScale, parseDecimal, roundTo, sum, toText } from "@/lib/decimal";
import { notFound, ServiceError, validationFailed } from "@/lib/errors";
import { retryOnConflict } from "@/lib/ledger/corrections/attempts";
import { readEffects } from "@/lib/ledger/corrections/bulk";
import { requireMonths } from "@/lib/ledger/ingest/months";
import { addDays } from "@/lib/spend/period";
import {
  type AdjustmentMessage,
  type AdjustmentRow,
  bookAdjustment,
  lockBills,
  selectAdjustments,
  selectProjectOf,
  undoAdjustment,
} from "./adjustment-queries";
import { loadCells, loadCounted, type ReconciledCells } from "./load-cells";

/** The maximum number of bookings in a list. */
const maxListed = 100;

/** The maximum number of messages in one booking. */
const maxMessages = 10_000;

/** Lists the adjustments to bills, the latest first, for members. @throws ServiceError not_found */
export function listAdjustments(
  claims: UserClaims,
  slug: string,
  month: string | undefined,
): Promise<BillAdjustmentList> {
  return asUserReading(claims, async (client) => {
    const { id, role } = await requireMembership(client, claims, slug);
    const rows = await selectAdjustments(client, id, { month: month ?? null }, maxListed);
    return { adjustments: rows.map(toAdjustment), can_book: role === "owner" || role === "admin" };
  });
}

/**
 * Books the difference between bills and records of a month as adjustments, for admins: one message for each provider, day, model and
 * part, on the day of the bill. Only the difference that is left is booked, so a second booking finds nothing. Budgets count
 * adjustments but never refuse them, because the money was billed. A dry run rolls the same work back.
 * @throws ServiceError not_found; permission_denied; validation_failed for an unknown project; conflict if there is nothing to book, if
 *   the difference has changed from `expected_usd`, or if it needs too many messages
 */
export function bookDifference(
  claims: UserClaims,
  slug: string,
  request: BookAdjustmentRequest,
): Promise<BillAdjustment> {
  const asActor = request.dry_run ? asUserPreviewing : asUser;
  return retryOnConflict(() =>
    asActor(claims, async (client, now) => {
      const workspace = await requireMembership(client, claims, slug, "admin");
      await asServiceWithin(client, () => lockBills(client, workspace.id));
      return book(client, workspace, request, now);
    }),
  );
}

async function book(
  client: PoolClient,
  { id: workspaceId, time_zone: timeZone }: Membership,
  request: BookAdjustmentRequest,
  now: number,
): Promise<BillAdjustment> {
  const { month, expected_usd: expected } = request;
  const project = await selectProjectOf(client, workspaceId, request.project);
  if (!project)
    throw validationFailed([
      { path: "project", message: `there is no project ${request.project} in this workspace` },
    ]);
  const counted = await loadCounted(client, workspaceId);
  const found = await loadCells(client, { id: workspaceId, timeZone }, month, counted);
  const messages = toMessages(found, request, now);
  if (messages.length === 0)
    throw new ServiceError(
      "conflict",
      "There is no such difference to book: what is recorded is what was billed.",
    );
  if (messages.length > maxMessages)
    throw new ServiceError(
      "conflict",
      `The difference has ${messages.length} parts by day and model, and at most ${maxMessages} are booked at once. Book one provider at a time.`,
    );
  const total = sum(messages.map(({ amount_usd: usd }) => parseDecimal(usd)));
  if (expected !== undefined && compare(total, parseDecimal(expected)) !== 0)
    throw new ServiceError(
      "conflict",
      `The difference is $${toText(total)} by now, and $${expected} was expected. Look at it again.`,
    );
  requireMonths([toInstant(now), ...messages.map(({ occurred_at: at }) => at)]);
  const id = newId();
  await asServiceWithin(client, () =>
    bookAdjustment(client, workspaceId, { id, month: `${month}-01`, project_id: project.id, messages }),
  );
  const [row] = await selectAdjustments(client, workspaceId, { id }, 1);
  if (!row) throw new Error("The adjustment is missing.");
  const booked = toAdjustment(row);
  if (!request.dry_run) return booked;
  const effects = await readEffects(
    client,
    workspaceId,
    messages.map((message) => message.id),
  );
  return { ...booked, id: null, created_at: null, effects };
}

/** The messages for the requested parts of the differences. */
function toMessages(
  { cells, names }: ReconciledCells,
  { provider, model, day, parts = bookableParts }: BookAdjustmentRequest,
  now: number,
): AdjustmentMessage[] {
  const isAsked = (part: string): part is BookablePart => parts.some((one) => one === part);
  return cells
    .filter(
      (cell) =>
        (provider === undefined || cell.provider === provider) &&
        (model === undefined || cell.model === model) &&
        (day === undefined || cell.from === day),
    )
    .flatMap((cell) =>
      [...cell.parts].flatMap(([part, amount]) => {
        const usd = roundTo(amount, moneyScale, "nearest");
        if (!isAsked(part) || isZero(usd)) return [];
        // A bill without days is booked on the last day of its period.
        const booked = [addDays(cell.until, -1), dayOf(now)].sort()[0] ?? cell.from;
        const label = [differenceParts[part].label, cell.recordedModel].filter(Boolean).join(" · ");
        return [
          {
            id: newId(),
            occurred_at: `${booked}T00:00:00.000Z`,
            provider: names.get(cell.provider) ?? cell.provider,
            model: cell.recordedModel,
            label: label.slice(0, 200),
            part,
            amount_usd: toText(usd),
            billed_provider: cell.provider,
            billed_model: cell.model,
            day: booked,
          },
        ];
      }),
    );
}

/**
 * Undoes a booking, for admins: voids its messages, so that every sum is as before the booking. A second call changes nothing.
 * @throws ServiceError not_found; permission_denied; conflict if the operator has removed messages of it
 */
export function undoBooking(claims: UserClaims, slug: string, id: string): Promise<BillAdjustment> {
  return retryOnConflict(() =>
    asUser(claims, async (client, now) => {
      const { id: workspaceId } = await requireMembership(client, claims, slug, "admin");
      requireMonths([toInstant(now)]);
      const outcome = await asServiceWithin(client, () => undoAdjustment(client, workspaceId, id));
      if (outcome === "unknown") throw notFound();
      if (outcome === "removed")
        throw new ServiceError(
          "conflict",
          "The operator has removed messages of this adjustment, so it cannot be undone.",
        );
      const [row] = await selectAdjustments(client, workspaceId, { id }, 1);
      if (!row) throw new Error("The adjustment is missing.");
      return toAdjustment(row);
    }),
  );
}

const exact = (text: string) => new ExactNumber(text);

function toAdjustment(row: AdjustmentRow): BillAdjustment {
  const withAmount = <T extends { amount_usd: string }>({ amount_usd: usd, ...slice }: T) => ({
    ...slice,
    amount_usd: exact(usd),
  });
  return {
    id: row.id,
    month: row.month,
    project: { slug: row.project_slug ?? "", name: row.project_name ?? "A deleted project" },
    amount_usd: exact(row.amount_usd),
    standing_usd: exact(row.standing_usd),
    message_count: row.message_count,
    parts: bookableParts.flatMap((name) => row.parts.filter(({ part }) => part === name)).map(withAmount),
    days: row.days.map(withAmount),
    effects: null,
    created_at: toInstant(row.created_at.getTime()),
    created_by: row.created_by_email,
    undone_at: row.undone_at && toInstant(row.undone_at.getTime()),
    undone_by: row.undone_by_email,
  };
}
