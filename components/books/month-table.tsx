import type { ReactNode } from "react";
import { exactText } from "@/components/figures/amount";
import { formatCount, formatNumber } from "@/components/figures/format-count";
import { formatMonthAndYear } from "@/components/figures/format-date";
import { formatUsd, Money } from "@/components/figures/money";
import { Time } from "@/components/figures/time";
import { activityHref } from "@/components/filters/href";
import { Badge } from "@/components/ui/badge";
import { CopyButton } from "@/components/ui/copy-button";
import { Link } from "@/components/ui/link";
import { Table, TableBody, TableCell, TableHead, TableHeader, TableRow } from "@/components/ui/table";
import type { ClosedMonthList, LedgerMonth } from "@/lib/contract/ledger/closed-months";
import { CloseMonth, ReopenMonth } from "./closing-dialogs";

type Closing = NonNullable<LedgerMonth["closing"]>;
type Shown = { workspace: string; canClose: boolean };

/** "October 2026" */
export const nameOfMonth = (month: string): string => formatMonthAndYear(`${month}-01`);

/** The months of a workspace with their figures; an admin closes and reopens them here. A phone shows less of each. */
export function MonthTable({ list, ...shown }: Shown & { list: ClosedMonthList }) {
  const present = list.months[0]?.month ?? "";
  const last = list.months.find(({ closing }) => closing !== null);
  return (
    <Table aria-label="Months">
      <TableHeader>
        <TableRow>
          <TableHead>Month</TableHead>
          <TableHead className="text-right">Total</TableHead>
          <TableHead className="hidden text-right lg:table-cell">Later adjustments</TableHead>
          <TableHead className="hidden text-right md:table-cell">Messages</TableHead>
          <TableHead className="hidden sm:table-cell">Status</TableHead>
          <TableHead>
            <span className="sr-only">Actions</span>
          </TableHead>
        </TableRow>
      </TableHeader>
      <TableBody>
        {list.months.map((month) => (
          <TableRow key={month.month}>
            <TableCell className="w-full min-w-28">
              <Link
                href={activityHref(shown.workspace, { ...daysOf(month.month) })}
                className="font-medium underline-offset-4 hover:underline"
              >
                {nameOfMonth(month.month)}
              </Link>
              <span className="block text-muted-foreground text-xs sm:hidden">
                <Status month={month} present={present} />
              </span>
              <Adjusted month={month} workspace={shown.workspace} />
              {month.later_adjustment_count > 0 ? (
                <span className="block text-muted-foreground text-xs lg:hidden">
                  Later adjustments: <Later month={month} workspace={shown.workspace} />
                </span>
              ) : null}
            </TableCell>
            <TableCell className="whitespace-nowrap text-right tabular-nums">
              <Money usd={month.amount_usd} figure="month_usd" />
              {month.unpriced_count > 0 ? (
                <span className="block text-warning text-xs">
                  {formatNumber(month.unpriced_count)} unpriced
                </span>
              ) : null}
            </TableCell>
            <TableCell className="hidden whitespace-nowrap text-right lg:table-cell">
              <Later month={month} workspace={shown.workspace} />
            </TableCell>
            <TableCell className="hidden text-right tabular-nums md:table-cell">
              {formatNumber(month.message_count)}
            </TableCell>
            <TableCell className="hidden whitespace-nowrap sm:table-cell">
              <Status month={month} present={present} />
            </TableCell>
            <TableCell className="py-1.5 text-right">
              <Actions month={month} list={list} isLast={month === last} {...shown} />
            </TableCell>
          </TableRow>
        ))}
      </TableBody>
    </Table>
  );
}

/** The first and the last day of a month, for addresses. */
function daysOf(month: string): { period: string; from: string; to: string } {
  const [year = 0, number = 1] = month.split("-").map(Number);
  const last = new Date(Date.UTC(year, number, 0)).toISOString().slice(0, 10);
  return { period: "range", from: `${month}-01`, to: last };
}

const quiet = "underline decoration-input underline-offset-4 hover:decoration-current";

/** The part of a month's costs that adjusts earlier closed months. */
function Adjusted({
  month: { month, adjustments_usd: usd },
  workspace,
}: {
  month: LedgerMonth;
  workspace: string;
}) {
  if (Number(exactText(usd)) === 0) return null;
  return (
    <span className="block text-muted-foreground text-xs">
      Adjustments of closed months:{" "}
      <Link href={activityHref(workspace, { ...daysOf(month), adjusts: "any" })} className={quiet}>
        <Money usd={usd} />
      </Link>
    </span>
  );
}

/** The costs of a month that were recorded after it was closed. */
function Later({ month, workspace }: { month: LedgerMonth; workspace: string }): ReactNode {
  if (month.later_adjustment_count === 0) return <span className="text-muted-foreground">–</span>;
  return (
    <Link href={activityHref(workspace, { period: "all", adjusts: month.month })} className={quiet}>
      <Money usd={month.later_adjustments_usd} figure="later_adjustments_usd" />
    </Link>
  );
}

function Status({
  month: { month, closing, can_close: canClose, closable_from: from },
  present,
}: {
  month: LedgerMonth;
  present: string;
}) {
  if (closing) {
    return (
      <>
        <Badge variant="success">Closed</Badge>{" "}
        <span className="text-muted-foreground text-xs">
          <Time at={closing.closed_at} />
        </span>
      </>
    );
  }
  if (month === present) return <Badge>Present month</Badge>;
  if (canClose) return <Badge variant="outline">Open</Badge>;
  return (
    <>
      <Badge variant="outline">Open</Badge>{" "}
      <span className="text-muted-foreground text-xs">
        can be closed <Time at={from} />
      </span>
    </>
  );
}

function Actions({
  month,
  list,
  isLast,
  workspace,
  canClose,
}: Shown & { month: LedgerMonth; list: ClosedMonthList; isLast: boolean }) {
  const name = nameOfMonth(month.month);
  const { closing } = month;
  if (closing) {
    return (
      <span className="flex flex-col items-end gap-1.5 sm:flex-row sm:items-center sm:justify-end">
        <Download workspace={workspace} closing={closing} />
        {isLast && canClose ? <ReopenMonth workspace={workspace} id={closing.id} name={name} /> : null}
      </span>
    );
  }
  if (!month.can_close || !canClose) return null;
  return (
    <CloseMonth workspace={workspace} month={month.month} name={name} summary={summaryOf(month, list)} />
  );
}

/** The filed export of a closing, with its hash. */
export function Download({
  workspace,
  closing: { id, month, sha256 },
}: {
  workspace: string;
  closing: Closing;
}) {
  if (sha256 === null) return <span className="text-muted-foreground text-xs">Being filed</span>;
  return (
    <span className="flex items-center gap-1 whitespace-nowrap">
      <a
        href={`/api/v1/workspaces/${workspace}/closed-months/${id}/export`}
        download
        aria-label={`Filed export of ${nameOfMonth(month)}`}
        title={`SHA-256 ${sha256}`}
        className={`text-sm ${quiet}`}
      >
        CSV
      </a>
      <CopyButton text={sha256} label={`Copy the hash of the export: ${nameOfMonth(month)}`} />
    </span>
  );
}

/** What closing a month files and changes, in sentences. */
function summaryOf(
  { month, amount_usd: usd, message_count: count, unpriced_count: unpriced }: LedgerMonth,
  list: ClosedMonthList,
): string[] {
  const before = list.months.filter((each) => each.month < month && each.closing === null).length;
  const next = nameOfMonth(list.months[0]?.month ?? month);
  return [
    `${nameOfMonth(month)}: ${formatUsd(usd)} from ${formatCount(count, "message")}.`,
    ...(before > 0
      ? [`${formatCount(before, "open month")} before it ${before === 1 ? "is" : "are"} closed with it.`]
      : []),
    ...(unpriced > 0
      ? [
          `${formatCount(unpriced, "line")} without a price stay at $0. Set the prices first if they should count.`,
        ]
      : []),
    `Costs, imports, voids and corrections that come later are booked when they are recorded, as adjustments: now in ${next}.`,
    "New prices leave the month as it is. Its export is filed, and can be downloaded unchanged at any time.",
  ];
}
