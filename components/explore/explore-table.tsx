import { useMemo } from "react";
import { exactText } from "@/components/figures/amount";
import { Count } from "@/components/figures/count";
import { formatPercent } from "@/components/figures/format-percent";
import { formatMoney, Money } from "@/components/figures/money";
import type { TableColumn } from "@/components/table/column";
import { DataTable } from "@/components/table/data-table";
import type { RememberedViews } from "@/components/table/view-cookie";
import { comparisonOfRows, type ExploreChange, type ExploreData, type ExploreGroup } from "./data";
import {
  calendarNames,
  dimensionLabel,
  formatMeasured,
  isSummed,
  measures,
  toChartNumber,
} from "./dimensions";
import { ChangeFigure, shortChangesBelow, textOfChange } from "./explore-change";
import { ExploreFigure, GroupName, nameCell } from "./explore-figure";
import { rowsHref } from "./rows-href";
import type { ExploreState } from "./state";

/** A cell of an answer with its groups and the address of its rows. */
type Cell = ExploreData["cells"][number] & {
  by: ExploreGroup | undefined;
  over: ExploreGroup | undefined;
  href: string | undefined;
  /** How its row differs from the days compared with. */
  change: ExploreChange | undefined;
};

/** The cells of an answer as a list, the highest first, each with a link to its rows. */
export function ExploreTable({
  workspace,
  state,
  data,
  views,
}: {
  workspace: string;
  state: ExploreState;
  data: ExploreData;
  views: RememberedViews;
}) {
  const { by, over, measure, filters, environment } = state;
  // `state` is a new object even if only the hidden series changed, which the table does not show.
  // biome-ignore lint/correctness/useExhaustiveDependencies: `state` is listed by the parts that are read.
  const rows = useMemo(
    () => cellsOf(workspace, state, data),
    [workspace, by, over, filters, environment, data],
  );
  const columns = useMemo(() => columnsOf({ by, over, measure }, data), [by, over, measure, data]);
  return (
    <DataTable
      id="explore"
      workspace={workspace}
      views={views}
      label="Cells"
      noun="row"
      rows={rows}
      columns={columns}
      rowId={({ row, column }) => `${row} ${column}`}
      initialSort={{ id: "measure", descending: true }}
    />
  );
}

function cellsOf(workspace: string, state: ExploreState, data: ExploreData): Cell[] {
  return data.cells.map((cell) => {
    const by = data.rows[cell.row];
    const over = state.over === null ? undefined : data.columns[cell.column];
    const href = rowsHref(workspace, state, data, [
      { dimension: state.by, group: by },
      { dimension: state.over, group: over },
    ]);
    return { ...cell, by, over, href, change: data.comparison?.rows[cell.row] };
  });
}

function columnsOf(
  { by, over, measure }: Pick<ExploreState, "by" | "over" | "measure">,
  data: ExploreData,
): TableColumn<Cell>[] {
  const { label } = measures[measure];
  const { measured: total } = data.totals;
  const columns: TableColumn<Cell>[] = [
    { ...dimensionColumn("by", by, ({ by: group }) => group), part: "name" },
  ];
  if (over !== null) columns.push(dimensionColumn("over", over, ({ over: group }) => group));
  columns.push({
    id: "measure",
    label,
    kind: "decimal",
    value: ({ measured }) => measured && exactText(measured),
    text: ({ measured }) => `${formatMeasured(measure, measured)} ${measured ? exactText(measured) : ""}`,
    cell: ({ href, measured }) => <ExploreFigure href={href} measure={measure} measured={measured} />,
    className: "whitespace-nowrap",
  });
  if (isSummed(measure)) {
    columns.push({
      id: "share",
      label: "Share",
      cell: ({ measured }) => {
        const whole = toChartNumber(measure, total ?? "0");
        return whole > 0 ? formatPercent(String(toChartNumber(measure, measured ?? "0") / whole)) : "–";
      },
      className: "text-right",
      cellClassName: "text-muted-foreground tabular-nums",
      from: "sm",
    });
  }
  // Only if each row has one cell: the change of a row with several cells is in the summary.
  if (over === null && comparisonOfRows(data)) columns.push(changeColumn(measure, data));
  if (measure !== "cost") {
    columns.push({
      id: "cost",
      label: "Cost",
      kind: "usd",
      value: ({ cost }) => exactText(cost),
      text: ({ cost }) => `${formatMoney(cost)} ${exactText(cost)}`,
      cell: ({ cost }) => <Money usd={cost} />,
      from: "sm",
    });
  }
  if (measure !== "messages") {
    columns.push({
      id: "messages",
      label: "Messages",
      kind: "count",
      value: ({ messages }) => messages,
      cell: ({ messages }) => <Count value={messages} />,
      from: "sm",
    });
  }
  return columns;
}

/** The column with the change of each row against the days compared with. */
function changeColumn(
  measure: ExploreState["measure"],
  { rows, totals }: Pick<ExploreData, "rows" | "totals">,
): TableColumn<Cell> {
  const shortBelow = shortChangesBelow(measure, totals.measured);
  return {
    id: "change",
    label: "Change",
    kind: "decimal",
    value: ({ change }) => (change?.difference ? exactText(change.difference) : null),
    text: ({ change }) => (change ? textOfChange(measure, change) : ""),
    cell: ({ row, change }) =>
      change ? (
        <ChangeFigure
          measure={measure}
          now={rows[row]?.measured ?? null}
          change={change}
          {...{ shortBelow }}
        />
      ) : null,
    cellProps: ({ change }) => ({
      "data-figure": "change",
      "data-exact": change?.difference ? exactText(change.difference) : "",
    }),
    className: "whitespace-nowrap",
  };
}

/** A column of the groups of a dimension: days, weeks and months in the order of the calendar, others by their names. */
function dimensionColumn(
  id: string,
  dimension: string,
  groupOf: (cell: Cell) => ExploreGroup | undefined,
): TableColumn<Cell> {
  const isCalendar = calendarNames.includes(dimension);
  return {
    id,
    label: dimensionLabel(dimension),
    kind: isCalendar ? "time" : "text",
    value: (cell) => (isCalendar ? groupOf(cell)?.value : groupOf(cell)?.label) ?? null,
    text: (cell) => groupOf(cell)?.label ?? "",
    cell: (cell) => <GroupName group={groupOf(cell)} />,
    // The columns of names share the width that the figures leave.
    className: isCalendar ? "whitespace-nowrap" : `w-1/2 max-w-0 ${nameCell}`,
  };
}
