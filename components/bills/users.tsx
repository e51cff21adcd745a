import { formatCount } from "@/components/figures/format-count";
import { Money } from "@/components/figures/money";
import { Table, TableBody, TableCell, TableHead, TableHeader, TableRow } from "@/components/ui/table";
import type { ReconciledUser } from "@/lib/contract/bills/reconciliation";
import { BilledCells, BilledHeads } from "./months";

const nameOf = ({ kind, user, user_count: count }: ReconciledUser) =>
  kind === "user" ? user : kind === "none" ? "Nobody named" : `Others (${formatCount(count, "person")})`;

/** What was billed and recorded of each person, where the bill names people. */
export function ReconciledUsers({ users }: { users: ReconciledUser[] }) {
  return (
    <Table aria-label="People">
      <TableHeader>
        <TableRow>
          <TableHead>Person</TableHead>
          <TableHead className="hidden md:table-cell">Provider</TableHead>
          <BilledHeads />
        </TableRow>
      </TableHeader>
      <TableBody>
        {users.map((row) => (
          <TableRow key={`${row.provider} ${row.kind} ${row.user}`}>
            <TableCell className="w-full [overflow-wrap:anywhere]">
              <span className={row.kind === "user" ? "font-medium" : "text-muted-foreground"}>
                {nameOf(row)}
              </span>
              <span className="block text-muted-foreground text-xs md:hidden">
                {row.provider}
                <span className="sm:hidden">
                  , recorded <Money usd={row.recorded_usd} inUsd />
                </span>
              </span>
            </TableCell>
            <TableCell className="hidden whitespace-nowrap md:table-cell">{row.provider}</TableCell>
            <BilledCells row={row} />
          </TableRow>
        ))}
      </TableBody>
    </Table>
  );
}
