import { exactText } from "@/components/figures/amount";
import { formatCount } from "@/components/figures/format-count";
import { formatDate, formatDays } from "@/components/figures/format-date";
import { formatList } from "@/components/figures/format-list";
import { formatUsd, Money } from "@/components/figures/money";
import { Time } from "@/components/figures/time";
import { Badge } from "@/components/ui/badge";
import { Table, TableBody, TableCell, TableHead, TableHeader, TableRow } from "@/components/ui/table";
import type { Bill } from "@/lib/contract/bills/bills";
import { DeleteBill } from "./delete-bill";

/** The bills of a workspace: what each states, and how much of it counts. */
export function BillTable({
  bills,
  workspace,
  canEdit,
}: {
  bills: Bill[];
  workspace: string;
  canEdit: boolean;
}) {
  return (
    <Table aria-label="Bills">
      <TableHeader>
        <TableRow>
          <TableHead>Bill</TableHead>
          <TableHead className="hidden sm:table-cell">Days</TableHead>
          <TableHead className="text-right">Billed</TableHead>
          <TableHead className="hidden lg:table-cell">Added</TableHead>
          {canEdit ? (
            <TableHead>
              <span className="sr-only">Actions</span>
            </TableHead>
          ) : null}
        </TableRow>
      </TableHeader>
      <TableBody>
        {bills.map((bill) => (
          <TableRow key={bill.id}>
            <TableCell className="w-full min-w-32 [overflow-wrap:anywhere]">
              <span className="font-medium">{bill.name}</span>
              <span className="block text-muted-foreground text-xs">
                {formatList(bill.providers)} ·{" "}
                {bill.format === "pull" ? "pulled" : formatCount(bill.row_count, "row")}
                {bill.format === "focus" ? " · FOCUS" : bill.format === "cur" ? " · CUR 2.0" : ""}
              </span>
              <span className="block text-muted-foreground text-xs sm:hidden">
                {formatDays(bill.from, bill.to)}
              </span>
              {bill.left_out_count > 0 ? (
                <span className="block text-muted-foreground text-xs">
                  {formatCount(bill.left_out_count, "row")} of other services left out:{" "}
                  <Money usd={bill.left_out_usd} inUsd />
                </span>
              ) : null}
              <Changes bill={bill} />
            </TableCell>
            <TableCell className="hidden whitespace-nowrap sm:table-cell">
              {formatDays(bill.from, bill.to)}
            </TableCell>
            <TableCell className="whitespace-nowrap text-right">
              <Money usd={bill.amount_usd} figure="amount_usd" inUsd />
              <Counted bill={bill} />
            </TableCell>
            <TableCell className="hidden whitespace-nowrap text-muted-foreground lg:table-cell">
              <Time at={bill.created_at} />
              {bill.created_by ? <span className="block text-xs">{bill.created_by}</span> : null}
            </TableCell>
            {canEdit ? (
              <TableCell className="py-1.5 text-right">
                {bill.provider_account_id === null ? (
                  <DeleteBill workspace={workspace} id={bill.id} name={bill.name} />
                ) : null}
              </TableCell>
            ) : null}
          </TableRow>
        ))}
      </TableBody>
    </Table>
  );
}

/** How much of a bill counts, if later bills replace a part of it. */
function Counted({ bill: { amount_usd: amount, counted_usd: counted } }: { bill: Bill }) {
  if (exactText(amount) === exactText(counted)) return null;
  if (Number(exactText(counted)) === 0)
    return (
      <span className="block">
        <Badge variant="outline">Replaced</Badge>
      </span>
    );
  return (
    <span className="block text-muted-foreground text-xs">
      <Money usd={counted} inUsd /> counts
    </span>
  );
}

/** How a bill differs from the earlier ones that it replaces. */
function Changes({ bill: { changes } }: { bill: Bill }) {
  if (changes.length === 0) return null;
  return (
    <details className="text-xs">
      <summary className="cursor-pointer text-muted-foreground">
        {formatCount(changes.length, "day")} changed since the bill before
      </summary>
      <ul className="mt-1 grid gap-0.5">
        {changes.map(({ provider, account, from, to, amount_usd: amount, former_usd: former }) => (
          <li key={`${provider} ${account} ${from}`}>
            {provider}, {from === to ? formatDate(from) : formatDays(from, to)}: {formatUsd(former ?? 0)} →{" "}
            {formatUsd(amount)}
          </li>
        ))}
      </ul>
    </details>
  );
}
