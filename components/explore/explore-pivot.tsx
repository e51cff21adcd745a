import { exactText } from "@/components/figures/amount";
import { TableCell, TableHead } from "@/components/ui/table";
import {
  comparisonOfRows,
  type ExploreChange,
  type ExploreData,
  type ExploreGroup,
  type ExploreSums,
} from "./data";
import { dimensionLabel, measures } from "./dimensions";
import { ChangeFigure } from "./explore-change";
import { ExploreFigure, GroupName, nameCell } from "./explore-figure";
import { rowsHref } from "./rows-href";
import type { ExploreState } from "./state";

type Props = { workspace: string; state: ExploreState; data: ExploreData };

/** The fade of columns that scroll below the sticky columns of names and totals. */
const fade = "after:pointer-events-none after:absolute after:inset-y-0 after:w-5 after:content-['']";
const nameColumn = "sticky left-0 bg-background";
const totalColumn = `sticky right-0 bg-background ${fade} after:-left-5 after:bg-linear-to-l after:from-background after:to-transparent`;

/**
 * The cells of an answer as a grid of rows and columns with their totals, each with a link to its rows. The last column shows how
 * each row differs from the days compared with.
 */
export function ExplorePivot({ workspace, state, data }: Props) {
  const { measure } = state;
  const comparison = comparisonOfRows(data);
  const hasColumns = state.over !== null;
  const cellOf = new Map(data.cells.map((cell) => [`${cell.row} ${cell.column}`, cell]));
  const link = (row?: ExploreGroup, column?: ExploreGroup) =>
    rowsHref(workspace, state, data, [
      { dimension: state.by, group: row },
      { dimension: state.over, group: column },
    ]);
  return (
    // `relative`: the section clips the text for screen readers in its cells, which would widen the page otherwise.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable element must be reachable by keyboard.
    <section tabIndex={0} aria-label="Pivot" className="relative max-h-[80dvh] overflow-auto">
      <table className="w-full text-sm">
        <thead className="sticky top-0 z-20 bg-background shadow-[0_1px_0_var(--border)]">
          <tr>
            <TableHead className={`${nameColumn} z-10 bg-background pl-0`}>
              {dimensionLabel(state.by)}
            </TableHead>
            {hasColumns
              ? data.columns.map((column) => (
                  <TableHead
                    key={`${column.value} ${column.isRest}`}
                    className="max-w-40 truncate text-right"
                  >
                    <bdi className="block truncate" title={column.label}>
                      {column.label}
                    </bdi>
                  </TableHead>
                ))
              : null}
            <TableHead className={`${totalColumn} text-right last:pr-0`}>
              {hasColumns ? "Total" : measures[measure].label}
            </TableHead>
            {comparison ? <TableHead className="pr-0 text-right">Change</TableHead> : null}
          </tr>
        </thead>
        <tbody>
          {data.rows.map((row, at) => (
            <tr key={`${row.value} ${row.label}`} className="border-b">
              <th
                scope="row"
                className={`${nameColumn} z-10 min-w-24 max-w-28 py-2 pr-3 text-left font-normal sm:max-w-48 ${nameCell}`}
              >
                <GroupName group={row} />
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
                          <ExploreFigure
                            href={link(row, column)}
                            measure={measure}
                            measured={cell.measured}
                          />
                        ) : null}
                      </TableCell>
                    );
                  })
                : null}
              <TableCell
                className={`${totalColumn} whitespace-nowrap text-right font-medium tabular-nums last:pr-0`}
              >
                <ExploreFigure href={link(row)} measure={measure} measured={row.measured} />
              </TableCell>
              {comparison ? (
                <ChangeCell measure={measure} now={row.measured} change={comparison.rows[at]} />
              ) : null}
            </tr>
          ))}
        </tbody>
        <tfoot className="sticky bottom-0 z-20 bg-background shadow-[0_-1px_0_var(--border)]">
          <tr>
            <th scope="row" className={`${nameColumn} z-10 py-2 pr-3 text-left font-medium`}>
              Total
            </th>
            {hasColumns
              ? data.columns.map((column) => (
                  <TableCell
                    key={`${column.value} ${column.isRest}`}
                    className="whitespace-nowrap text-right font-medium tabular-nums"
                  >
                    <ExploreFigure
                      href={link(undefined, column)}
                      measure={measure}
                      measured={column.measured}
                    />
                  </TableCell>
                ))
              : null}
            <TableCell
              className={`${totalColumn} whitespace-nowrap text-right font-medium tabular-nums last:pr-0`}
            >
              <ExploreFigure href={link()} measure={measure} measured={data.totals.measured} />
            </TableCell>
            {comparison ? (
              <ChangeCell measure={measure} now={data.totals.measured} change={comparison.totals} />
            ) : null}
          </tr>
        </tfoot>
      </table>
    </section>
  );
}

function ChangeCell({
  change,
  ...figures
}: {
  measure: ExploreState["measure"];
  now: ExploreSums["measured"];
  change: ExploreChange | undefined;
}) {
  return (
    <TableCell
      className="whitespace-nowrap pr-0 text-right tabular-nums"
      data-figure="change"
      data-exact={change?.difference ? exactText(change.difference) : ""}
    >
      {change ? <ChangeFigure {...figures} change={change} /> : null}
    </TableCell>
  );
}
