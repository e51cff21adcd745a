import { formatCount } from "@/components/figures/format-count";
import { Money } from "@/components/figures/money";
import { activityHref } from "@/components/filters/href";
import { Link } from "@/components/ui/link";
import { Table, TableBody, TableCell, TableHead, TableHeader, TableRow } from "@/components/ui/table";
import type { Metrics } from "@/lib/contract/spend/metrics";
import { ErasePerson } from "./erase-person";

/** The people whom usage was for, with what it cost. */
export function PeopleTable({
  workspace,
  people,
  canErase,
}: {
  workspace: string;
  people: Metrics["by_user"];
  canErase: boolean;
}) {
  return (
    <Table aria-label="People">
      <TableHeader>
        <TableRow>
          <TableHead className="pl-0">Person</TableHead>
          <TableHead className="hidden sm:table-cell">Messages</TableHead>
          <TableHead className={canErase ? "text-right max-sm:px-2" : "pr-0 text-right"}>Spend</TableHead>
          {canErase ? (
            <TableHead className="pr-0 max-sm:pl-0">
              <span className="sr-only">Erase</span>
            </TableHead>
          ) : null}
        </TableRow>
      </TableHeader>
      <TableBody>
        {people.map(({ value, total_usd, message_count }) =>
          value === null ? null : (
            <TableRow key={value} className="[&>td]:align-middle">
              <TableCell className="w-full pl-0">
                <Link
                  href={activityHref(workspace, { period: "all", user: value })}
                  className="font-medium underline-offset-4 [overflow-wrap:anywhere] hover:underline"
                >
                  {value}
                </Link>
              </TableCell>
              <TableCell className="hidden whitespace-nowrap sm:table-cell">
                {formatCount(message_count, "message")}
              </TableCell>
              <TableCell className={canErase ? "text-right max-sm:px-2" : "pr-0 text-right"}>
                <Money usd={total_usd} figure="by_user.total_usd" />
              </TableCell>
              {canErase ? (
                <TableCell className="pr-0 text-right max-sm:pl-0">
                  <ErasePerson workspace={workspace} user={value} />
                </TableCell>
              ) : null}
            </TableRow>
          ),
        )}
      </TableBody>
    </Table>
  );
}
