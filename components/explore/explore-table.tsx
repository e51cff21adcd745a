import Link from "next/link";
import { Count } from "@/components/count";
import { formatPercent } from "@/components/format-percent";
import { Money } from "@/components/money";
import { Table, TableBody, TableCell, TableHead, TableHeader, TableRow } from "@/components/ui/table";
import type { ExploreData, ExploreGroup } from "./data";
import { dimensionLabel, isSummed, measures } from "./dimensions";
import { rowsHref } from "./rows-href";
import type { ExploreState } from "./state";

type Props = { workspace: string; state: ExploreState; data: ExploreData };

/** Rows that a table shows at most; the CSV has all. */
const maxRows = 500;

/** The cells of an answer as a list, the highest first, each with a link to its rows. */
export function ExploreTable({ workspace, state, data }: Props) {
  const { label, format } = measures[state.measure];
  const hasColumns = state.over !== null;
  const cells = [...data.cells].sort((a, b) => Number(b.measured ?? 0) - Number(a.measured ?? 0));
  const whole = Number(data.totals.measured ?? 0);
  const isCost = state.measure === "cost";
  return (
    <Table aria-label="Cells">
      <TableHeader>
        <TableRow>
          <TableHead className="pl-0">{dimensionLabel(state.by)}</TableHead>
          {state.over === null ? null : <TableHead>{dimensionLabel(state.over)}</TableHead>}
          <TableHead className="text-right">{label}</TableHead>
          {isSummed(state.measure) ? <TableHead className="text-right">Share</TableHead> : null}
          {isCost ? null : <TableHead className="text-right">Cost</TableHead>}
          <TableHead className="pr-0 text-right">Messages</TableHead>
        </TableRow>
      </TableHeader>
      <TableBody>
        {cells.slice(0, maxRows).map((cell) => {
          const row = data.rows[cell.row];
          const column = hasColumns ? data.columns[cell.column] : undefined;
          const href = rowsHref(workspace, state, data, [
            { dimension: state.by, group: row },
            { dimension: state.over, group: column },
          ]);
          return (
            <TableRow key={`${cell.row} ${cell.column}`}>
              <TableCell className="max-w-64 truncate pl-0">
                <Name group={row} />
              </TableCell>
              {hasColumns ? (
                <TableCell className="max-w-64 truncate">
                  <Name group={column} />
                </TableCell>
              ) : null}
              <TableCell className="text-right tabular-nums">
                <Figure href={href} text={format(cell.measured)} exact={cell.measured} />
              </TableCell>
              {isSummed(state.measure) ? (
                <TableCell className="text-right text-muted-foreground tabular-nums">
                  {whole > 0 ? formatPercent(String(Number(cell.measured ?? 0) / whole)) : "–"}
                </TableCell>
              ) : null}
              {isCost ? null : (
                <TableCell className="text-right">
                  <Money usd={cell.cost} />
                </TableCell>
              )}
              <TableCell className="pr-0 text-right">
                <Count value={cell.messages} />
              </TableCell>
            </TableRow>
          );
        })}
        {cells.length > maxRows ? (
          <TableRow>
            <TableCell colSpan={6} className="pl-0 text-muted-foreground">
              {cells.length - maxRows} more are in the CSV.
            </TableCell>
          </TableRow>
        ) : null}
      </TableBody>
    </Table>
  );
}

/** The cells of an answer as a grid of rows and columns with their totals, each with a link to its rows. */
export function ExplorePivot({ workspace, state, data }: Props) {
  const { label, format } = measures[state.measure];
  const hasColumns = state.over !== null;
  const cellOf = new Map(data.cells.map((cell) => [`${cell.row} ${cell.column}`, cell]));
  const link = (row?: ExploreGroup, column?: ExploreGroup) =>
    rowsHref(workspace, state, data, [
      { dimension: state.by, group: row },
      { dimension: state.over, group: column },
    ]);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable element must be reachable by keyboard.
    <section tabIndex={0} aria-label="Pivot" className="overflow-x-auto">
      <table className="w-full text-sm">
        <thead>
          <tr className="border-b">
            <TableHead className="sticky left-0 bg-background pl-0">{dimensionLabel(state.by)}</TableHead>
            {hasColumns
              ? data.columns.map((column) => (
                  <TableHead
                    key={`${column.value} ${column.isRest}`}
                    className="max-w-40 truncate text-right"
                  >
                    <span title={column.label}>{column.label}</span>
                  </TableHead>
                ))
              : null}
            <TableHead className="pr-0 text-right">{hasColumns ? "Total" : label}</TableHead>
          </tr>
        </thead>
        <tbody>
          {data.rows.map((row, at) => (
            <tr key={`${row.value} ${row.isRest}`} className="border-b">
              <th
                scope="row"
                className="sticky left-0 max-w-48 truncate bg-background py-2 pr-3 text-left font-normal"
              >
                <Name group={row} />
              </th>
              {hasColumns
                ? data.columns.map((column, place) => {
                    const cell = cellOf.get(`${at} ${place}`);
                    return (
                      <TableCell
                        key={`${column.value} ${column.isRest}`}
                        className="whitespace-nowrap text-right tabular-nums"
                      >
                        {cell ? (
                          <Figure
                            href={link(row, column)}
                            text={format(cell.measured)}
                            exact={cell.measured}
                          />
                        ) : null}
                      </TableCell>
                    );
                  })
                : null}
              <TableCell className="whitespace-nowrap pr-0 text-right font-medium tabular-nums">
                <Figure href={link(row)} text={format(row.measured)} exact={row.measured} />
              </TableCell>
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row" className="sticky left-0 bg-background py-2 pr-3 text-left font-medium">
              Total
            </th>
            {hasColumns
              ? data.columns.map((column) => (
                  <TableCell
                    key={`${column.value} ${column.isRest}`}
                    className="whitespace-nowrap text-right font-medium tabular-nums"
                  >
                    <Figure
                      href={link(undefined, column)}
                      text={format(column.measured)}
                      exact={column.measured}
                    />
                  </TableCell>
                ))
              : null}
            <TableCell className="whitespace-nowrap pr-0 text-right font-medium tabular-nums">
              <Figure href={link()} text={format(data.totals.measured)} exact={data.totals.measured} />
            </TableCell>
          </tr>
        </tfoot>
      </table>
    </section>
  );
}

function Name({ group }: { group: ExploreGroup | undefined }) {
  return (
    <span title={group?.label} dir="auto">
      {group?.label}
    </span>
  );
}

/** A figure, with a link to its rows where activity can show them. */
function Figure({ href, text, exact }: { href: string | undefined; text: string; exact: string | null }) {
  if (!href) return <span title={exact ?? undefined}>{text}</span>;
  return (
    <Link href={href} prefetch={false} title={exact ?? undefined} className="rounded-sm hover:underline">
      {text}
    </Link>
  );
}
