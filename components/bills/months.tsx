import { exactText } from "@/components/figures/amount";
import { formatDigits } from "@/components/figures/format-count";
import { formatDate, formatMonthAndYear } from "@/components/figures/format-date";
import { formatExactPercent } from "@/components/figures/format-percent";
import { formatSignedUsd, formatUsd, Money } from "@/components/figures/money";
import { Link } from "@/components/ui/link";
import { Table, TableBody, TableCell, TableHead, TableHeader, TableRow } from "@/components/ui/table";
import type { ReconciledDetail, ReconciledMonth } from "@/lib/contract/bills/reconciliation";

/** "October 2026" */
export const nameOfMonth = (month: string): string => formatMonthAndYear(`${month}-01`);

/** How much of what was billed is recorded, such as "88.6%"; undefined if nothing was billed. */
export const coverageText = ({ coverage_percent: percent }: Pick<ReconciledMonth, "coverage_percent">) =>
  percent === null ? undefined : formatExactPercent(percent);

/** "3,000,000 of 3,400,012" */
const unitsText = (units: ReconciledDetail["providers"][number]["units"]) =>
  units &&
  `${formatDigits(exactText(units.recorded_units))} of ${formatDigits(exactText(units.billed_units))}`;

/** A sentence that sums up a month. */
export function sentenceOf(detail: ReconciledDetail): string {
  const { month, billed_usd: billed, recorded_usd: recorded, difference_usd: difference } = detail;
  const gap = Number(exactText(difference));
  const than =
    gap === 0
      ? "exactly what was recorded"
      : `${formatUsd(recorded)} was recorded, ${formatUsd(exactText(difference).replace("-", ""))} ${gap > 0 ? "less" : "more"}`;
  const covered = coverageText(detail);
  const coverage = covered === undefined ? "" : ` ${covered} of what was billed is recorded.`;
  const adjusted = exactText(detail.adjusted_usd);
  const booked =
    Number(adjusted) === 0 ? "" : ` Of what was recorded, ${formatSignedUsd(adjusted)} are adjustments.`;
  return `${nameOfMonth(month)}: ${formatUsd(billed)} was billed${gap === 0 ? ", " : "; "}${than}.${booked}${coverage}`;
}

/** A difference with its sign, in USD, as it is billed. @param props.decimals decimal places, by default 2 */
export function Difference({
  usd,
  figure,
  decimals,
}: {
  usd: ReconciledDetail["difference_usd"] | string;
  figure?: string;
  decimals?: number;
}) {
  const exact = exactText(usd);
  return (
    <span
      className="whitespace-nowrap tabular-nums"
      title={`$${exact}`.replace("$-", "−$")}
      {...(figure && { "data-figure": figure, "data-exact": exact })}
    >
      {formatSignedUsd(usd, decimals)}
    </span>
  );
}

/** The headings of `BilledCells`. */
export function BilledHeads() {
  return (
    <>
      <TableHead className="text-right">Billed</TableHead>
      <TableHead className="hidden text-right sm:table-cell">Recorded</TableHead>
      <TableHead className="text-right max-sm:pr-0">Difference</TableHead>
    </>
  );
}

type BilledSums = Pick<ReconciledMonth, "billed_usd" | "recorded_usd" | "difference_usd">;

/** What was billed, what of it was recorded, which a phone has no room for, and the difference. */
export function BilledCells({ row, hasFigures = false }: { row: BilledSums; hasFigures?: boolean }) {
  const named = (figure: keyof BilledSums) => ({ usd: row[figure], ...(hasFigures && { figure }) });
  return (
    <>
      <TableCell className="whitespace-nowrap text-right">
        <Money {...named("billed_usd")} inUsd />
      </TableCell>
      <TableCell className="hidden whitespace-nowrap text-right sm:table-cell">
        <Money {...named("recorded_usd")} inUsd />
      </TableCell>
      <TableCell className="text-right max-sm:pr-0">
        <Difference {...named("difference_usd")} />
      </TableCell>
    </>
  );
}

/** The months with a bill. @param props.shown the month that is explained below */
export function ReconciledMonths({
  months,
  workspace,
  shown,
}: {
  months: ReconciledMonth[];
  workspace: string;
  shown: string | undefined;
}) {
  return (
    <Table aria-label="Months">
      <TableHeader>
        <TableRow>
          <TableHead>Month</TableHead>
          <BilledHeads />
          <TableHead className="hidden text-right sm:table-cell">Coverage</TableHead>
          <TableHead className="hidden text-right lg:table-cell">Without a bill</TableHead>
          <TableHead className="hidden md:table-cell">Billed through</TableHead>
        </TableRow>
      </TableHeader>
      <TableBody>
        {months.map((row) => (
          <TableRow key={row.month}>
            <TableCell className="w-full min-w-28">
              <Link
                href={`/${workspace}/reconciliation?month=${row.month}`}
                aria-current={row.month === shown ? "true" : undefined}
                className="underline decoration-input underline-offset-4 hover:decoration-current aria-[current]:font-medium aria-[current]:no-underline"
              >
                {nameOfMonth(row.month)}
              </Link>
              <span className="block text-muted-foreground text-xs sm:hidden">
                Recorded <Money usd={row.recorded_usd} inUsd />
                {coverageText(row) === undefined ? null : ` (${coverageText(row)})`}
              </span>
            </TableCell>
            <BilledCells row={row} hasFigures />
            <TableCell className="hidden text-right tabular-nums sm:table-cell">
              {coverageText(row) ?? "–"}
            </TableCell>
            <TableCell className="hidden whitespace-nowrap text-right lg:table-cell">
              <span title="Usage recorded at providers of which no bill of this month is here">
                <Money usd={row.recorded_elsewhere_usd} inUsd />
              </span>
            </TableCell>
            <TableCell className="hidden whitespace-nowrap text-muted-foreground md:table-cell">
              {row.billed_through === null ? "–" : formatDate(row.billed_through)}
            </TableCell>
          </TableRow>
        ))}
      </TableBody>
    </Table>
  );
}

/** What each provider billed in a month. */
export function ReconciledProviders({ detail }: { detail: ReconciledDetail }) {
  return (
    <Table aria-label="Providers">
      <TableHeader>
        <TableRow>
          <TableHead>Provider</TableHead>
          <BilledHeads />
          <TableHead className="hidden text-right sm:table-cell">Coverage</TableHead>
          <TableHead className="hidden text-right xl:table-cell">Units recorded</TableHead>
          <TableHead className="hidden text-right md:table-cell">Billed days</TableHead>
        </TableRow>
      </TableHeader>
      <TableBody>
        {detail.providers.map((row) => (
          <TableRow key={row.provider}>
            <TableCell className="w-full font-medium [overflow-wrap:anywhere]">
              {row.provider}
              <span className="block font-normal text-muted-foreground text-xs sm:hidden">
                Recorded <Money usd={row.recorded_usd} inUsd />
                {coverageText(row) === undefined ? null : ` (${coverageText(row)})`}
              </span>
            </TableCell>
            <BilledCells row={row} />
            <TableCell className="hidden text-right tabular-nums sm:table-cell">
              {coverageText(row) ?? "–"}
            </TableCell>
            <TableCell className="hidden whitespace-nowrap text-right tabular-nums xl:table-cell">
              {unitsText(row.units) ?? "–"}
            </TableCell>
            <TableCell className="hidden text-right tabular-nums md:table-cell">{row.billed_days}</TableCell>
          </TableRow>
        ))}
      </TableBody>
    </Table>
  );
}
