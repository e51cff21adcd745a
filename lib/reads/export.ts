import type { ExportQuery } from "@/lib/contract/activity";
import type { Membership } from "@/lib/contract/me";
import { asUserReading, type UserClaims } from "@/lib/db/transaction";
import { requireMembership } from "@/lib/workspaces/membership";
import { type ActivityPage, readPage } from "./activity-page";
import type { ActivityPlace, StoredActivity } from "./activity-queries";
import { csvRow } from "./csv";
import { activityColumns, type Column } from "./export-rows";
import { chargesOf, focusColumns } from "./focus";
import { dayOf, rangeOf } from "./period";

/** Rows read at a time: what an export holds in memory, however long it is. */
const rowsAPage = 1_000;

/** An export under way: its file name, and its text as it comes to be. */
export type Export = { fileName: string; text: AsyncIterable<string> };

type Page = ActivityPage & { workspace: Membership };

/**
 * Every row of activity that matches, latest first, as CSV. Each page is read by itself with the caller's rights of then;
 * pages follow each other by place, so that no row comes twice or is missed whatever is recorded meanwhile.
 * @param now milliseconds since 1970: which day, week or month is the current one
 * @throws ServiceError not_found to strangers, before the first piece
 */
export async function exportActivity(
  claims: UserClaims,
  slug: string,
  { format, ...filters }: ExportQuery,
  now: number,
): Promise<Export> {
  const range = rangeOf(filters, now);
  const readNext = (behind?: ActivityPlace): Promise<Page> =>
    asUserReading(claims, async (client) => {
      const workspace = await requireMembership(client, claims, slug);
      const withLines = format === "focus";
      const page = await readPage(client, workspace.id, filters, range, behind, rowsAPage, { withLines });
      return { ...page, workspace };
    });
  const first = await readNext();
  const fileName = `${slug}-${filters.period}-${dayOf(now)}${format === "focus" ? "-focus" : ""}.csv`;
  const text =
    format === "focus"
      ? write(first, readNext, focusColumns, chargesOf)
      : write(first, readNext, activityColumns, (row) => [row]);
  return { fileName, text };
}

async function* write<Row>(
  first: Page,
  readNext: (behind: ActivityPlace) => Promise<Page>,
  columns: Column<Row>[],
  spread: (row: StoredActivity, workspace: Membership) => Row[],
): AsyncGenerator<string> {
  yield csvRow(columns.map(([name]) => name));
  for (let page: Page | undefined = first; page; page = page.next && (await readNext(page.next))) {
    const { rows, workspace } = page;
    const charges = rows.flatMap((row) => spread(row, workspace));
    if (charges.length > 0) yield charges.map((row) => csvRow(columns.map(([, cell]) => cell(row)))).join("");
  }
}
