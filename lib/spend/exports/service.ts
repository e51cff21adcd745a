import type { PoolClient } from "pg";
import { requireMembership } from "@/lib/access/workspaces/membership";
import type { Membership } from "@/lib/contract/access/me";
import type { ExportQuery } from "@/lib/contract/spend/activity-filters";
import { clockOf } from "@/lib/contract/values/clock";
import { csvRow } from "@/lib/contract/values/csv";
import { dayOf } from "@/lib/contract/values/instant";
import type { DayRange } from "@/lib/contract/values/month";
import { deadlines } from "@/lib/db/deadlines";
import { asUserReading, type UserClaims } from "@/lib/db/transaction";
import { ServiceError } from "@/lib/errors";
import type { ZonedDays } from "@/lib/ledger/days";
import { type ActivityPage, readPage } from "@/lib/spend/activity/activity-page";
import { type ActivityPlace, type StoredActivity, selectLines } from "@/lib/spend/activity/activity-queries";
import { rangeOf, toAnsweredRange } from "@/lib/spend/period";
import { removedWithin } from "@/lib/spend/removed-messages";
import { activityColumns, type ExportColumn } from "./export-rows";
import { descriptionSeparator, focusColumns } from "./focus";
import { inTurn } from "./in-turn";
import { RunningExport } from "./running-export";
import { type ExportedPosting, runsOf, unfold } from "./unfold";

/**
 * The rows that are read at a time, and their postings that are written at a time. They bound the memory of an export of any
 * length, and how long other requests wait while it is written.
 */
const rowsAPage = 500;
const postingsARun = 2_000;

/** A running export: its file name, and its text in pieces. `end` stops it at any point and frees its connection. */
export type Export = {
  fileName: string;
  text: AsyncIterable<string>;
  end: () => Promise<void>;
  /** The day before which messages of the period were removed, `YYYY-MM-DD`, UTC; null where none were. */
  removedBefore: string | null;
};

type Page = ActivityPage & { workspace: Membership; range: ZonedDays; now: number };

/** Postings that are written together, and their workspace. */
type Run = { postings: ExportedPosting[]; workspace: Membership };

/**
 * Every posting of the activity that matches, latest first, the lines of a batch in their order, as CSV. Each page is read
 * by itself with the caller's rights of then, and so are its batches' lines; none holds a connection while it is being
 * sent. Pages follow each other by place, so that no posting comes twice or is missed whatever is recorded meanwhile.
 * Which day, week or month is the current one is the first page's to say.
 * @throws ServiceError not_found to strangers, export_in_progress, conflict where every message of the period was removed;
 *   all before the first piece
 */
export async function exportActivity(
  claims: UserClaims,
  slug: string,
  { format, ...filters }: ExportQuery,
): Promise<Export> {
  const read = <T>(ask: (client: PoolClient, workspace: Membership, now: number) => Promise<T>): Promise<T> =>
    inTurn(() =>
      asUserReading(
        claims,
        async (client, now) => ask(client, await requireMembership(client, claims, slug), now),
        deadlines.exportPage,
      ),
    );
  const readNext = ({ place, range }: { place: ActivityPlace; range: ZonedDays }): Promise<Page> =>
    read(async (client, workspace, now) => {
      const page = await readPage(
        client,
        workspace.id,
        filters,
        range,
        { sort: "-time", after: place },
        rowsAPage,
      );
      return { ...page, workspace, range, now };
    });
  const readPostings = async (found: StoredActivity[]): Promise<ExportedPosting[]> => {
    const rows = found.map(asFiled);
    if (!rows.some(({ has_lines }) => has_lines)) return rows;
    const lines = await read((client, { id }) => selectLines(client, id, filters, rows));
    return unfold(rows, lines, format === "focus" ? descriptionSeparator : undefined);
  };
  await demandMembership(claims, slug);
  const running = await RunningExport.begin(claims.sub);
  try {
    const { removedBefore, ...first } = await read(async (client, workspace, now) => {
      const { time_zone: timeZone } = workspace;
      const range = { ...rangeOf(filters, clockOf(timeZone, now).now), timeZone };
      const page = await readPage(client, workspace.id, filters, range, { sort: "-time" }, rowsAPage);
      return {
        ...page,
        workspace,
        range,
        now,
        removedBefore: await removedWithin(client, workspace.id, range),
      };
    });
    if (removedBefore !== null && first.rows.length === 0 && first.range.until <= removedBefore) {
      throw new ServiceError(
        "conflict",
        `The messages before ${removedBefore} were removed; there is nothing to export. Their sums were kept: read them from metrics.`,
        { removed_before: removedBefore },
      );
    }
    const runs = runsFrom(pagesFrom(first, running, readNext), running, readPostings);
    const days = nameDays(first.range, clockOf(first.range.timeZone, first.now).now);
    const fileName = `${slug}-${days}${format === "focus" ? "-focus" : ""}.csv`;
    const text =
      format === "focus"
        ? write(runs, focusColumns, (posting, workspace) => ({ ...posting, workspace }))
        : write(runs, activityColumns, (posting) => posting);
    return { fileName, text, end: () => running.end(), removedBefore };
  } catch (error) {
    await running.end();
    throw error;
  }
}

/** A row of a closed month without its later void or correction, which is booked, and exported, in a later month. */
function asFiled(row: StoredActivity): StoredActivity {
  return row.undone_later ? { ...row, voided_by: null, corrected_by: null } : row;
}

/** The days of an export in its file name: `2026-11-01-2026-11-30`, or `all-2026-11-23` for all time until today. */
function nameDays(range: DayRange, now: number): string {
  const { from, to } = toAnsweredRange(range);
  return from === null ? `all-${dayOf(now)}` : `${from}-${to}`;
}

/** Whether an export could begin now. @throws ServiceError as `exportActivity` */
export async function probeExport(claims: UserClaims, slug: string): Promise<void> {
  await demandMembership(claims, slug);
  await RunningExport.demandNone(claims.sub);
}

async function demandMembership(claims: UserClaims, slug: string): Promise<void> {
  await asUserReading(claims, (client) => requireMembership(client, claims, slug));
}

/** Yields the pages of an export, and ends the export after the last page or an error. */
async function* pagesFrom(
  first: Page,
  running: RunningExport,
  readNext: (after: { place: ActivityPlace; range: ZonedDays }) => Promise<Page>,
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

/** Yields the postings of pages, a limited number at a time. */
async function* runsFrom(
  pages: AsyncIterable<Page>,
  running: RunningExport,
  readPostings: (rows: StoredActivity[]) => Promise<ExportedPosting[]>,
): AsyncGenerator<Run> {
  for await (const { rows, workspace } of pages) {
    for (const run of runsOf(rows, postingsARun)) {
      await running.goOn();
      yield { postings: await readPostings(run), workspace };
    }
  }
}

async function* write<Row>(
  runs: AsyncIterable<Run>,
  columns: ExportColumn<Row>[],
  toRow: (posting: ExportedPosting, workspace: Membership) => Row,
): AsyncGenerator<string> {
  yield csvRow(columns.map(([name]) => name));
  for await (const { postings, workspace } of runs) {
    const rows = postings.map((posting) => toRow(posting, workspace));
    if (rows.length > 0) yield rows.map((row) => csvRow(columns.map(([, cell]) => cell(row)))).join("");
  }
}
