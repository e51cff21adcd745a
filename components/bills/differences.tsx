import { exactText } from "@/components/figures/amount";
import { formatCount, formatNumber } from "@/components/figures/format-count";
import { formatDay, formatDays } from "@/components/figures/format-date";
import { Money } from "@/components/figures/money";
import { activityHref } from "@/components/filters/href";
import { Link } from "@/components/ui/link";
import { Table, TableBody, TableCell, TableHead, TableHeader, TableRow } from "@/components/ui/table";
import { differenceParts } from "@/lib/contract/bills/difference-parts";
import type { ReconciledCell, ReconciledDetail } from "@/lib/contract/bills/reconciliation";
import { decimalsThatAddUp } from "./decimals-that-add-up";
import { Difference } from "./months";

/** The most models that the page shows; the API has more. */
const maxShown = 50;

/** The models whose billed and recorded costs differ, each with its days. */
export function Differences({ detail, workspace }: { detail: ReconciledDetail; workspace: string }) {
  const differing = detail.models.filter(({ parts }) => parts.length > 0);
  const equal = detail.models.length - differing.length;
  if (differing.length === 0)
    return (
      <p className="text-muted-foreground text-sm">Every model is recorded as it was billed, day by day.</p>
    );
  const shown = differing.slice(0, maxShown);
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-3">
      <Table aria-label="Models">
        <TableHeader>
          <TableRow>
            <TableHead>Model</TableHead>
            <TableHead className="hidden text-right md:table-cell">Billed</TableHead>
            <TableHead className="hidden text-right md:table-cell">Recorded</TableHead>
            <TableHead className="hidden lg:table-cell">Parts</TableHead>
            <TableHead className="text-right">Difference</TableHead>
          </TableRow>
        </TableHeader>
        <TableBody>
          {shown.map(({ provider, model, ...row }) => (
            <TableRow key={`${provider} ${model}`}>
              <TableCell className="w-full [overflow-wrap:anywhere]">
                <span className="font-medium">{model ?? "No model"}</span>
                <span className="block text-muted-foreground text-xs">{provider}</span>
                <span className="block text-xs lg:hidden">
                  <PartNames row={row} />
                </span>
                <Days
                  cells={detail.cells.filter(
                    (cell) => cell.provider === provider && cell.model === model && cell.parts.length > 0,
                  )}
                  workspace={workspace}
                />
              </TableCell>
              <TableCell className="hidden whitespace-nowrap text-right md:table-cell">
                <Money usd={row.billed_usd} inUsd />
              </TableCell>
              <TableCell className="hidden whitespace-nowrap text-right md:table-cell">
                <Money usd={row.recorded_usd} inUsd />
              </TableCell>
              <TableCell className="hidden min-w-44 text-xs lg:table-cell">
                <PartNames row={row} />
              </TableCell>
              <TableCell className="text-right">
                <Difference usd={row.difference_usd} decimals={decimalsOf(row)} />
              </TableCell>
            </TableRow>
          ))}
        </TableBody>
      </Table>
      <p className="text-muted-foreground text-xs">
        {differing.length > shown.length
          ? `${formatCount(differing.length - shown.length, "smaller difference")} in the API. `
          : ""}
        {detail.cells.length < detail.cell_count
          ? `Days: the ${formatNumber(detail.cells.length)} largest differences of ${formatNumber(detail.cell_count)}. `
          : ""}
        {equal > 0 ? `${formatCount(equal, "other model")} recorded as billed.` : ""}
      </p>
    </div>
  );
}

/** A difference with its parts. */
type Explained = Pick<ReconciledCell, "parts" | "difference_usd">;

/** The decimal places of a difference and its parts. */
const decimalsOf = ({ parts, difference_usd: difference }: Explained): number =>
  decimalsThatAddUp(
    exactText(difference),
    parts.map(({ amount_usd: usd }) => exactText(usd)),
  );

/** The parts of a difference, with their amounts if there are several. */
function PartNames({ row }: { row: Explained }) {
  return row.parts.map(({ part, amount_usd: usd }, index) => (
    <span key={part} className="text-muted-foreground">
      {index > 0 ? ", " : ""}
      <span className={part === "unexplained" ? "text-warning" : undefined}>
        {differenceParts[part].label}
      </span>
      {row.parts.length > 1 ? (
        <>
          {" "}
          <Difference usd={usd} decimals={decimalsOf(row)} />
        </>
      ) : null}
    </span>
  ));
}

/** The days on which a model's costs differ, in order. */
function Days({ cells, workspace }: { cells: ReconciledCell[]; workspace: string }) {
  if (cells.length === 0) return null;
  const days = [...cells].sort((a, b) => (a.from < b.from ? -1 : 1));
  return (
    <details className="mt-1 text-xs">
      <summary className="cursor-pointer text-muted-foreground">{formatCount(days.length, "day")}</summary>
      <ul className="mt-1 grid gap-1.5">
        {days.map((cell) => (
          <li key={cell.from} className="grid gap-0.5">
            <span className="flex justify-between gap-4">
              <span>
                <Link
                  href={activityHref(workspace, { period: "range", from: cell.from, to: cell.to })}
                  className="underline decoration-input underline-offset-4 hover:decoration-current"
                >
                  {cell.from === cell.to ? formatDay(cell.from) : formatDays(cell.from, cell.to)}
                </Link>{" "}
                <PartNames row={cell} />
              </span>
              <Difference usd={cell.difference_usd} decimals={decimalsOf(cell)} />
            </span>
            <BilledLines cell={cell} />
          </li>
        ))}
      </ul>
    </details>
  );
}

/** The lines of the bill, if a part of the difference is unexplained. */
function BilledLines({ cell: { lines } }: { cell: ReconciledCell }) {
  return lines.map(({ line, unit, tier, key, amount_usd: usd, quantity }) => (
    <span
      key={JSON.stringify([line, unit, tier, key])}
      className="flex justify-between gap-4 ps-3 text-muted-foreground"
    >
      <span className="min-w-0">
        Billed:{" "}
        {[
          line,
          quantity === null ? unit : `${formatNumber(Number(exactText(quantity)))} ${unit ?? ""}`,
          tier,
          key,
        ]
          .filter(Boolean)
          .join(" · ") || "a row without a description"}
      </span>
      <Money usd={usd} inUsd />
    </span>
  ));
}
