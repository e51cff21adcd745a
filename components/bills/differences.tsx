import { exactText } from "@/components/figures/amount";
import { formatCount, formatNumber } from "@/components/figures/format-count";
import { formatDay, formatDays } from "@/components/figures/format-date";
import { Money } from "@/components/figures/money";
import { activityHref } from "@/components/filters/href";
import { Link } from "@/components/ui/link";
import { Table, TableBody, TableCell, TableHead, TableHeader, TableRow } from "@/components/ui/table";
import { differenceParts } from "@/lib/contract/bills/difference-parts";
import type { ReconciledCell, ReconciledDetail } from "@/lib/contract/bills/reconciliation";
import { Difference } from "./months";

/** The most rows that the page shows; the API has all. */
const maxShown = 60;

/** The periods and models whose billed and recorded costs differ. */
export function Differences({ detail, workspace }: { detail: ReconciledDetail; workspace: string }) {
  const differing = detail.cells.filter(({ parts }) => parts.length > 0);
  const equal = detail.cell_count - differing.length;
  if (differing.length === 0)
    return <p className="text-muted-foreground text-sm">Every day and model is recorded as it was billed.</p>;
  const shown = differing.slice(0, maxShown);
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-3">
      <Table aria-label="Days and models">
        <TableHeader>
          <TableRow>
            <TableHead>Model and day</TableHead>
            <TableHead className="hidden text-right md:table-cell">Billed</TableHead>
            <TableHead className="hidden text-right md:table-cell">Recorded</TableHead>
            <TableHead className="hidden lg:table-cell">Parts</TableHead>
            <TableHead className="text-right">Difference</TableHead>
          </TableRow>
        </TableHeader>
        <TableBody>
          {shown.map((cell) => (
            <TableRow key={`${cell.provider} ${cell.from} ${cell.model}`}>
              <TableCell className="w-full [overflow-wrap:anywhere]">
                <Link
                  href={activityHref(workspace, { period: "range", from: cell.from, to: cell.to })}
                  className="font-medium underline-offset-4 hover:underline"
                >
                  {cell.model ?? "No model"}
                </Link>
                <span className="block text-muted-foreground text-xs">
                  {cell.provider} ·{" "}
                  {cell.from === cell.to ? formatDay(cell.from) : formatDays(cell.from, cell.to)}
                </span>
                <span className="block text-xs lg:hidden">
                  <PartNames cell={cell} />
                </span>
                <BilledLines cell={cell} />
              </TableCell>
              <TableCell className="hidden whitespace-nowrap text-right md:table-cell">
                <Money usd={cell.billed_usd} inUsd />
              </TableCell>
              <TableCell className="hidden whitespace-nowrap text-right md:table-cell">
                <Money usd={cell.recorded_usd} inUsd />
              </TableCell>
              <TableCell className="hidden min-w-44 text-xs lg:table-cell">
                <PartNames cell={cell} />
              </TableCell>
              <TableCell className="text-right">
                <Difference usd={cell.difference_usd} />
              </TableCell>
            </TableRow>
          ))}
        </TableBody>
      </Table>
      <p className="text-muted-foreground text-xs">
        {differing.length > shown.length
          ? `${formatNumber(differing.length - shown.length)} smaller differences are in the API. `
          : ""}
        {equal > 0 ? `${formatCount(equal, "other row")} of the bill and the records are equal.` : ""}
      </p>
    </div>
  );
}

/** The parts of a row, with their amounts where there are several. */
function PartNames({ cell: { parts } }: { cell: ReconciledCell }) {
  return parts.map(({ part, amount_usd: usd }, index) => (
    <span key={part} className="text-muted-foreground">
      {index > 0 ? ", " : ""}
      <span className={part === "unexplained" ? "text-warning" : undefined}>
        {differenceParts[part].label}
      </span>
      {parts.length > 1 ? (
        <>
          {" "}
          <Difference usd={usd} />
        </>
      ) : null}
    </span>
  ));
}

/** What the bill says, where a part is unexplained. */
function BilledLines({ cell: { lines } }: { cell: ReconciledCell }) {
  if (lines.length === 0) return null;
  return (
    <details className="mt-1 text-xs">
      <summary className="cursor-pointer text-muted-foreground">
        {formatCount(lines.length, "billed row")}
      </summary>
      <ul className="mt-1 grid gap-0.5">
        {lines.map(({ line, unit, tier, key, amount_usd: usd, quantity }) => (
          <li key={JSON.stringify([line, unit, tier, key])} className="flex justify-between gap-4">
            <span className="min-w-0">
              {[
                line,
                quantity === null ? unit : `${formatNumber(Number(exactText(quantity)))} ${unit ?? ""}`,
                tier,
                key,
              ]
                .filter(Boolean)
                .join(" · ") || "No description"}
            </span>
            <Money usd={usd} inUsd />
          </li>
        ))}
      </ul>
    </details>
  );
}
