import { formatCount } from "@/components/figures/format-count";
import { Money } from "@/components/figures/money";
import { Table, TableBody, TableCell, TableHead, TableHeader, TableRow } from "@/components/ui/table";
import type { ReconciledUser } from "@/lib/contract/bills/reconciliation";
import { Difference } from "./months";

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
          <TableHead className="text-right">Billed</TableHead>
          <TableHead className="hidden text-right sm:table-cell">Recorded</TableHead>
          <TableHead className="text-right max-sm:pr-0">Difference</TableHead>
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
            <TableCell className="whitespace-nowrap text-right">
              <Money usd={row.billed_usd} inUsd />
            </TableCell>
            <TableCell className="hidden whitespace-nowrap text-right sm:table-cell">
              <Money usd={row.recorded_usd} inUsd />
            </TableCell>
            <TableCell className="text-right max-sm:pr-0">
              <Difference usd={row.difference_usd} />
            </TableCell>
          </TableRow>
        ))}
      </TableBody>
    </Table>
  );
}
