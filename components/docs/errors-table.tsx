import { Table, TableBody, TableCell, TableHead, TableHeader, TableRow } from "@/components/ui/table";
import { Inline, InlineCode } from "./inline";
import type { ErrorRow } from "./reference";

/** Errors by status: the code to act on, and when it comes. */
export function ErrorsTable({ errors }: { errors: ErrorRow[] }) {
  return (
    <div className="rounded-lg border">
      <Table>
        <TableHeader>
          <TableRow>
            <TableHead className="hidden w-16 sm:table-cell">Status</TableHead>
            <TableHead className="hidden sm:table-cell">Code</TableHead>
            <TableHead>
              <span className="sm:hidden">Status, code and when</span>
              <span className="hidden sm:inline">When</span>
            </TableHead>
          </TableRow>
        </TableHeader>
        <TableBody>
          {errors.map(({ status, code, when }) => (
            <TableRow key={code}>
              <TableCell className="hidden text-muted-foreground sm:table-cell">{status}</TableCell>
              <TableCell className="hidden whitespace-nowrap sm:table-cell">
                <InlineCode>{code}</InlineCode>
              </TableCell>
              <TableCell className="min-w-0">
                <span className="mb-0.5 flex gap-2 sm:hidden">
                  <span className="text-muted-foreground">{status}</span>
                  <InlineCode>{code}</InlineCode>
                </span>
                <Inline text={when} />
              </TableCell>
            </TableRow>
          ))}
        </TableBody>
      </Table>
    </div>
  );
}
