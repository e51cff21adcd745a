import { requireMembership } from "@/lib/access/workspaces/membership";
import type { ExportQuery } from "@/lib/contract/activity";
import { dayOf } from "@/lib/contract/instant";
import type { Membership } from "@/lib/contract/me";
import type { DayRange } from "@/lib/contract/month";
import { deadlines } from "@/lib/db/deadlines";
import { asUserReading, type UserClaims } from "@/lib/db/transaction";
import { type ActivityPage, readPage } from "@/lib/spend/activity/activity-page";
import type { ActivityPlace, StoredActivity } from "@/lib/spend/activity/queries";
import { rangeOf } from "@/lib/spend/period";
import { csvRow } from "./csv";
import { activityColumns, type Column } from "./export-rows";
import { chargesOf, focusColumns } from "./focus";
import { inTurn } from "./in-turn";
import { RunningExport } from "./running-export";

/**
 * Rows read at a time: what an export holds in memory, however long it is, and what others wait for while it is written
 * out.
 */
const rowsAPage = 500;

/** An export under way: its file name, and its text as it comes to be. `end` lets go of it, at whatever place it is. */
export type Export = { fileName: string; text: AsyncIterable<string>; end: () => Promise<void> };

type Page = ActivityPage & { workspace: Membership; range: DayRange; now: number };

/**
 * Every row of activity that matches, latest first, as CSV. Each page is read by itself with the caller's rights of then,
 * and holds no connection while it is being sent; pages follow each other by place, so that no row comes twice or is
 * missed whatever is recorded meanwhile. Which day, week or month is the current one is the first page's to say.
 * @throws ServiceError not_found to strangers, export_in_progress; both before the first piece
 */
export async function exportActivity(
  claims: UserClaims,
  slug: string,
  { format, ...filters }: ExportQuery,
): Promise<Export> {
  const readNext = (after?: { place: ActivityPlace; range: DayRange }): Promise<Page> =>
    inTurn(() =>
      asUserReading(
        claims,
        async (client, now) => {
          const workspace = await requireMembership(client, claims, slug);
          const range = after?.range ?? rangeOf(filters, now);
          const withLines = format === "focus";
          const page = await readPage(client, workspace.id, filters, range, after?.place, rowsAPage, {
            withLines,
          });
          return { ...page, workspace, range, now };
        },
        deadlines.exportPage,
      ),
    );
  await demandMembership(claims, slug);
  const running = await RunningExport.begin(claims.sub);
  try {
    const first = await readNext();
    const pages = pagesFrom(first, running, readNext);
    const fileName = `${slug}-${filters.period}-${dayOf(first.now)}${format === "focus" ? "-focus" : ""}.csv`;
    const text =
      format === "focus"
        ? write(pages, focusColumns, chargesOf)
        : write(pages, activityColumns, (row) => [row]);
    return { fileName, text, end: () => running.end() };
  } catch (error) {
    await running.end();
    throw error;
  }
}

/** Whether an export could begin now. @throws ServiceError as `exportActivity` */
export async function probeExport(claims: UserClaims, slug: string): Promise<void> {
  await demandMembership(claims, slug);
  await RunningExport.demandNone(claims.sub);
}

async function demandMembership(claims: UserClaims, slug: string): Promise<void> {
  await asUserReading(claims, (client) => requireMembership(client, claims, slug));
}

/** The pages of an export, which has ended when the last one is written, or one could not be read. */
async function* pagesFrom(
  first: Page,
  running: RunningExport,
  readNext: (after: { place: ActivityPlace; range: DayRange }) => Promise<Page>,
): AsyncGenerator<Page> {
  try {
    yield first;
    for (let { next } = first; next; ) {
      await running.goOn();
      const page = await readNext({ place: next, range: first.range });
      yield page;
      next = page.next;
    }
  } finally {
    await running.end();
  }
}

async function* write<Row>(
  pages: AsyncIterable<Page>,
  columns: Column<Row>[],
  spread: (row: StoredActivity, workspace: Membership) => Row[],
): AsyncGenerator<string> {
  yield csvRow(columns.map(([name]) => name));
  for await (const { rows, workspace } of pages) {
    const charges = rows.flatMap((row) => spread(row, workspace));
    if (charges.length > 0) yield charges.map((row) => csvRow(columns.map(([, cell]) => cell(row)))).join("");
  }
}
