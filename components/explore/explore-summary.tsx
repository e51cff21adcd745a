"use client";

import { ChevronRight } from "lucide-react";
import { Fragment, useEffect, useState } from "react";
import { currentReader } from "#reader";
import { exactText } from "@/components/figures/amount";
import { Count } from "@/components/figures/count";
import { formatPercent } from "@/components/figures/format-percent";
import { callApi } from "@/components/requests/api";
import { cn } from "@/components/ui/cn";
import { TableCell, TableHead } from "@/components/ui/table";
import type { spendAnswer, spendQuery } from "@/lib/contract/spend/spend-query";
import { comparisonOfRows, type ExploreChange, type ExploreData, type ExploreGroup } from "./data";
import {
  calendarNames,
  dimensionLabel,
  dimensionNames,
  isSummed,
  measures,
  toChartNumber,
} from "./dimensions";
import { ChangeFigure, shortChangesBelow } from "./explore-change";
import { ExploreFigure, GroupName } from "./explore-figure";
import { queryOfParts, toParts } from "./row-parts";
import { rowsHref } from "./rows-href";
import type { ExploreState } from "./state";

type Props = { workspace: string; state: ExploreState; data: ExploreData };

/** The classes of a cell with a number. With `wide`, a phone does not show it. */
const numberCell = "whitespace-nowrap text-right align-middle tabular-nums";
const wideCell = `${numberCell} text-muted-foreground max-sm:hidden`;

/**
 * A row for each series of an answer with its total, its share and how it differs from the days compared with. A row unfolds to its
 * parts by the second dimension: its days, or its own highest values. The row of the total is sticky.
 */
export function ExploreSummary({ workspace, state, data }: Props) {
  const [open, setOpen] = useState<readonly number[]>([]);
  const { measure, by, over } = state;
  const comparison = comparisonOfRows(data);
  const total = toChartNumber(measure, data.totals.measured ?? "0");
  const hasShares = isSummed(measure) && total > 0;
  const shortBelow = shortChangesBelow(measure, data.totals.measured);
  const link = (row?: ExploreGroup) => rowsHref(workspace, state, data, [{ dimension: by, group: row }]);
  const toggle = (at: number) =>
    setOpen(open.includes(at) ? open.filter((each) => each !== at) : [...open, at]);
  return (
    <table aria-label="Summary" className="w-full text-sm">
      <thead>
        <tr className="border-b">
          <TableHead className="pl-0">{dimensionLabel(by)}</TableHead>
          <TableHead className="text-right">{measures[measure].label}</TableHead>
          {hasShares ? <TableHead className="text-right max-sm:hidden">Share</TableHead> : null}
          {comparison ? <TableHead className="text-right">Change</TableHead> : null}
          {measure === "messages" ? null : (
            <TableHead className="pr-0 text-right max-sm:hidden">Messages</TableHead>
          )}
        </tr>
      </thead>
      <tbody>
        {data.rows.map((row, at) => {
          const isOpen = open.includes(at);
          return (
            <Fragment key={`${row.value} ${row.label}`}>
              <tr className={cn("border-b", isOpen && "bg-muted/40")}>
                <th scope="row" className="w-full max-w-0 py-1 pr-3 text-left font-normal">
                  <RowName
                    row={row}
                    detail={over}
                    isOpen={isOpen}
                    onToggle={over === null ? undefined : () => toggle(at)}
                  />
                </th>
                <TableCell className={cn(numberCell, "font-medium")}>
                  <ExploreFigure href={link(row)} measure={measure} measured={row.measured} />
                </TableCell>
                {hasShares ? (
                  <TableCell className={wideCell}>
                    {formatPercent(toChartNumber(measure, row.measured ?? "0") / total)}
                  </TableCell>
                ) : null}
                {comparison ? (
                  <ChangeCell {...{ measure, shortBelow }} now={row.measured} change={comparison.rows[at]} />
                ) : null}
                {measure === "messages" ? null : (
                  <TableCell className={`${wideCell} pr-0`}>
                    <Count value={row.messages} />
                  </TableCell>
                )}
              </tr>
              {isOpen ? (
                <Parts
                  workspace={workspace}
                  state={state}
                  data={data}
                  at={at}
                  hasChange={comparison !== null}
                />
              ) : null}
            </Fragment>
          );
        })}
      </tbody>
      <tfoot>
        <tr className="sticky bottom-0 bg-background shadow-[0_-1px_0_var(--border)]">
          <th scope="row" className="py-2 pr-3 text-left font-medium">
            Total
          </th>
          <TableCell className={cn(numberCell, "font-medium")}>
            <ExploreFigure href={link()} measure={measure} measured={data.totals.measured} />
          </TableCell>
          {hasShares ? <TableCell className={wideCell}>{formatPercent(1)}</TableCell> : null}
          {comparison ? (
            <ChangeCell {...{ measure, shortBelow }} now={data.totals.measured} change={comparison.totals} />
          ) : null}
          {measure === "messages" ? null : (
            <TableCell className={`${wideCell} pr-0`}>
              <Count value={data.totals.messages} />
            </TableCell>
          )}
        </tr>
      </tfoot>
    </table>
  );
}

/** The name of a row with its colour, and the button that unfolds its parts if it has any. */
function RowName({
  row,
  detail,
  isOpen,
  onToggle,
}: {
  row: ExploreGroup;
  detail: string | null;
  isOpen: boolean;
  onToggle: (() => void) | undefined;
}) {
  const content = (
    <>
      {/* Without a second dimension, the chart has one series, in one colour. */}
      {detail === null ? null : (
        <span
          aria-hidden="true"
          className="size-2.5 shrink-0 rounded-[3px]"
          style={{ background: row.colour }}
        />
      )}
      <span className="min-w-0 flex-1">
        <GroupName group={row} />
      </span>
    </>
  );
  if (!onToggle || detail === null) return <span className="flex items-center gap-2 py-1">{content}</span>;
  return (
    <button
      type="button"
      aria-expanded={isOpen}
      title={`${isOpen ? "Hide" : "Show"} its ${dimensionNames[detail]?.many ?? dimensionLabel(detail)}`}
      onClick={onToggle}
      className="flex w-full items-center gap-2 rounded-sm py-1 text-left hover:bg-accent"
    >
      <ChevronRight
        aria-hidden="true"
        className={cn("size-4 shrink-0 text-muted-foreground", isOpen && "rotate-90")}
      />
      {content}
    </button>
  );
}

/** The parts of a row. States: loading, loaded, and a problem with a button that reads them again. */
function Parts({ workspace, state, data, at, hasChange }: Props & { at: number; hasChange: boolean }) {
  const { measure, by, over } = state;
  const row = data.rows[at];
  const isCalendar = over !== null && calendarNames.includes(over);
  const { parts, problem, retry } = useParts(workspace, state, data, isCalendar ? undefined : row);
  if (!row) return null;
  const shown = isCalendar ? partsOfCalendar(data, at) : parts;
  const whole = toChartNumber(measure, row.measured ?? "0");
  const hasShares = isSummed(measure) && toChartNumber(measure, data.totals.measured ?? "0") > 0;
  if (!shown)
    return (
      <tr className="border-b">
        <td colSpan={5} className="py-2 pl-8 text-muted-foreground" aria-busy={!problem}>
          {problem ? (
            <span role="alert">
              {problem}{" "}
              <button type="button" className="rounded-sm underline underline-offset-4" onClick={retry}>
                Try again
              </button>
            </span>
          ) : (
            "Reading…"
          )}
        </td>
      </tr>
    );
  return shown.map((part) => (
    <tr key={`${part.value} ${part.isRest}`} className="border-b bg-muted/40">
      <th scope="row" className="w-full max-w-0 py-1.5 pr-3 pl-8 text-left font-normal">
        <GroupName group={part} />
      </th>
      <TableCell className={cn(numberCell, "py-1.5")}>
        <ExploreFigure
          href={rowsHref(workspace, state, data, [
            { dimension: by, group: row },
            { dimension: over, group: part },
          ])}
          measure={measure}
          measured={part.measured}
        />
      </TableCell>
      {hasShares ? (
        <TableCell className={cn(wideCell, "py-1.5")} title={`of ${row.label}`}>
          {whole > 0 ? formatPercent(toChartNumber(measure, part.measured ?? "0") / whole) : "–"}
        </TableCell>
      ) : null}
      {hasChange ? <TableCell /> : null}
      {measure === "messages" ? null : (
        <TableCell className={cn(wideCell, "py-1.5 pr-0")}>
          <Count value={part.messages} />
        </TableCell>
      )}
    </tr>
  ));
}

/** The days, weeks or months of a row that have records. */
function partsOfCalendar(data: ExploreData, at: number): ExploreGroup[] {
  return data.cells.flatMap(({ row, column, ...sums }) => {
    const part = data.columns[column];
    return row === at && part ? [{ ...part, ...sums }] : [];
  });
}

/** Reads the parts of a row. @param row undefined to read nothing */
function useParts(workspace: string, state: ExploreState, data: ExploreData, row: ExploreGroup | undefined) {
  const [parts, setParts] = useState<ExploreGroup[]>();
  const [problem, setProblem] = useState<string>();
  const [attempt, setAttempt] = useState(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: an unfolded row is of one answer; another one is another component.
  useEffect(() => {
    if (!row) return;
    const abort = new AbortController();
    setProblem(undefined);
    callApi<typeof spendAnswer, typeof spendQuery>(
      "POST",
      `/api/v1/workspaces/${workspace}/spend/query`,
      { ...queryOfParts(state, data, row), currency: currentReader().display?.currency },
      abort.signal,
    ).then(
      (answer) => setParts(toParts(answer)),
      (error: Error) => abort.signal.aborted || setProblem(error.message),
    );
    return () => abort.abort();
  }, [workspace, attempt]);
  return { parts, problem, retry: () => setAttempt(attempt + 1) };
}

function ChangeCell({
  change,
  ...figures
}: {
  measure: ExploreState["measure"];
  now: ExploreGroup["measured"];
  change: ExploreChange | undefined;
  shortBelow: ReturnType<typeof shortChangesBelow>;
}) {
  return (
    <TableCell
      className={numberCell}
      data-figure="change"
      data-exact={change?.difference ? exactText(change.difference) : ""}
    >
      {change ? <ChangeFigure {...figures} change={change} /> : null}
    </TableCell>
  );
}
