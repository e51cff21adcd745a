"use client";

import { Table, TableBody, TableCell, TableHead, TableHeader, TableRow } from "@/components/ui/table";
import type { Mapping } from "@/lib/ledger/import/fields";
import { toMessage } from "@/lib/ledger/import/message";
import type { ReadRow } from "@/lib/ledger/import/row";
import type { ChosenFile } from "./chosen-file";

const shownRows = 5;

/** The messages that a mapping makes of the first rows, or what is wrong with the rows. */
export function Preview({ file, mapping }: { file: ChosenFile; mapping: Mapping }) {
  return (
    <section aria-label="Preview of the first rows" className="grid gap-2">
      <h3 className="font-medium text-sm">Preview of the first rows</h3>
      <Table>
        <TableHeader>
          <TableRow>
            <TableHead className="pl-0">Line</TableHead>
            <TableHead>Project</TableHead>
            <TableHead className="max-sm:hidden">Type</TableHead>
            <TableHead>What</TableHead>
            <TableHead className="max-sm:hidden">When</TableHead>
            <TableHead className="pr-0 text-right">Cost</TableHead>
          </TableRow>
        </TableHeader>
        <TableBody>
          {file.rows.slice(0, shownRows).map((row) => (
            <TableRow key={row.line}>
              <TableCell className="pl-0 text-muted-foreground">{row.line}</TableCell>
              <Cells row={row} mapping={mapping} />
            </TableRow>
          ))}
        </TableBody>
      </Table>
    </section>
  );
}

function Cells({ row, mapping }: { row: ReadRow; mapping: Mapping }) {
  const result = toMessageOrProblem(row, mapping);
  if (typeof result === "string") {
    return (
      <TableCell colSpan={5} className="text-destructive">
        {result}
      </TableCell>
    );
  }
  const { project, message } = result;
  const text = (name: string) => (message[name] === undefined ? undefined : String(message[name]));
  const quantity = text("quantity") && `${text("quantity")} ${text("unit_type") ?? ""}`;
  const what = [text("vendor") ?? text("provider"), text("model"), text("plan"), quantity, text("label")];
  const currency = text("currency");
  const cost = text("amount") ?? text("estimated_cost");
  return (
    <>
      <TableCell className="max-sm:wrap-anywhere sm:whitespace-nowrap">{project || "none"}</TableCell>
      <TableCell className="capitalize max-sm:hidden">{text("type")}</TableCell>
      <TableCell className="w-full max-w-0 truncate">{what.filter(Boolean).join(" · ")}</TableCell>
      <TableCell className="whitespace-nowrap max-sm:hidden">
        {text("occurred_at")?.slice(0, 10) ?? "Now"}
      </TableCell>
      <TableCell className="pr-0 text-right max-sm:wrap-anywhere sm:whitespace-nowrap">
        {cost === undefined ? (
          <span className="text-muted-foreground">From its price</span>
        ) : (
          `${cost} ${currency ?? "USD"}`
        )}
      </TableCell>
    </>
  );
}

/** The message of a row, or a text that says what is wrong with the row. */
function toMessageOrProblem(row: ReadRow, mapping: Mapping) {
  if (row instanceof Error) return row.message;
  try {
    return toMessage(row, mapping, "");
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
