"use client";

import { Download } from "lucide-react";
import { formatNumber } from "@/components/figures/format-count";
import { Button } from "@/components/ui/button";
import { Table, TableBody, TableCell, TableHead, TableHeader, TableRow } from "@/components/ui/table";
import { refusedHeader, refusedLine } from "@/lib/ledger/import/refused-row";
import type { ChosenFile } from "./chosen-file";
import type { Refusal } from "./run-import";

/** Rows that are shown; the file has all of them. */
const maxShown = 100;

/** The refused rows with their line, field and reason. All of them can be saved as a CSV file, to correct and import again. */
export function RefusedRows({
  file,
  refusals,
  isDryRun,
}: {
  file: ChosenFile;
  refusals: Refusal[];
  isDryRun: boolean;
}) {
  const save = () => {
    const lines = refusals.map(({ row, reason }) => refusedLine(file.columns, row, reason));
    saveText(`${file.name.replace(/\.\w+$/, "")}.refused.csv`, [refusedHeader(file.columns), ...lines]);
  };
  return (
    <section aria-label="Refused rows" className="grid gap-2">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <h3 className="font-medium text-sm">{isDryRun ? "Rows that would be refused" : "Refused rows"}</h3>
        <Button variant="outline" size="sm" onClick={save}>
          <Download aria-hidden="true" />
          Save these rows
        </Button>
      </div>
      <Table>
        <TableHeader>
          <TableRow>
            <TableHead className="pl-0">Line</TableHead>
            <TableHead>Field</TableHead>
            <TableHead className="pr-0">Why</TableHead>
          </TableRow>
        </TableHeader>
        <TableBody>
          {refusals.slice(0, maxShown).flatMap(({ row, issues }) =>
            issues.map(({ field, reason }) => (
              <TableRow key={`${row.line} ${field} ${reason}`}>
                <TableCell className="pl-0 tabular-nums">{row.line}</TableCell>
                <TableCell className="whitespace-nowrap">{field || "The row"}</TableCell>
                <TableCell className="w-full break-words pr-0">{reason}</TableCell>
              </TableRow>
            )),
          )}
        </TableBody>
      </Table>
      {refusals.length > maxShown ? (
        <p className="text-muted-foreground text-sm">
          {formatNumber(refusals.length - maxShown)} more are not shown. Save the rows to see all of them.
        </p>
      ) : null}
    </section>
  );
}

function saveText(name: string, lines: string[]): void {
  const url = URL.createObjectURL(new Blob(lines, { type: "text/csv" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}
