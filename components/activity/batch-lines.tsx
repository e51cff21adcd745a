"use client";

import { type ReactNode, useState } from "react";
import { exactText } from "@/components/figures/amount";
import { formatDigits } from "@/components/figures/format-count";
import { Money } from "@/components/figures/money";
import { useApi } from "@/components/requests/use-api";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { Skeleton } from "@/components/ui/skeleton";
import { TableCell, TableRow } from "@/components/ui/table";
import type { messageDetail } from "@/lib/contract/spend/message-detail";
import { type BatchLine, type LineFilter, matchingLines } from "./row";

/** The number of lines shown before the user asks for the rest. */
const linesAtFirst = 50;

/** The matching lines of a batch, as rows of the activity table below the row of the batch. */
export function BatchLines({
  workspace,
  id,
  filter,
  before,
  between,
}: {
  workspace: string;
  /** The message's id. */
  id: string;
  filter: LineFilter;
  /** The empty cells of the columns before the name of a line. */
  before: ReactNode;
  /** The empty cells of the columns between the name and the amount. */
  between: ReactNode[];
}) {
  const { answer, problem } = useApi<typeof messageDetail>(`/api/v1/workspaces/${workspace}/messages/${id}`);
  const [isWhole, setWhole] = useState(false);
  const note = { before, span: between.length + 2 };
  if (problem) return <Note {...note}>{problem.message}</Note>;
  if (!answer) {
    return (
      <Note {...note}>
        <Skeleton className="w-40" aria-label="Loading the lines" />
      </Note>
    );
  }
  const matching = matchingLines(answer.lines, filter);
  const shown = isWhole ? matching : matching.slice(0, linesAtFirst);
  return (
    <>
      {shown.map((line, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a batch's lines have no other name, and keep their places.
        <Line key={index} line={line} before={before} between={between} />
      ))}
      {shown.length < matching.length ? (
        <Note {...note}>
          <Button variant="outline" size="sm" onClick={() => setWhole(true)}>
            Show all {formatDigits(String(matching.length))} lines
          </Button>
        </Note>
      ) : null}
    </>
  );
}

function Line({ line, before, between }: { line: BatchLine; before: ReactNode; between: ReactNode[] }) {
  const name = [line.model, line.feature].filter(Boolean).join(" · ");
  const quantity = `${formatDigits(exactText(line.quantity))} ${line.unit_type.replaceAll("_", " ")}`;
  return (
    <TableRow data-line>
      {before}
      <TableCell className="w-full max-w-0 pl-6 sm:pl-9">
        <span dir="auto" className="block truncate text-left">
          {name || quantity}
        </span>
        {name ? <span className="block truncate text-muted-foreground text-xs">{quantity}</span> : null}
      </TableCell>
      {between}
      <TableCell className="whitespace-nowrap pr-0 text-right">
        {line.cost_status === "unpriced" ? (
          <Badge variant="warning">No price yet</Badge>
        ) : (
          <Money usd={line.amount_usd} figure="line.amount_usd" />
        )}
      </TableCell>
    </TableRow>
  );
}

/** A row that says how many lines are not shown. */
function Note({ before, span, children }: { before: ReactNode; span: number; children: ReactNode }) {
  return (
    <TableRow>
      {before}
      <TableCell colSpan={span} className="pl-6 text-muted-foreground sm:pl-9">
        {children}
      </TableCell>
    </TableRow>
  );
}
