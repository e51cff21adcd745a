import { formatCount } from "@/components/figures/format-count";
import { formatDate } from "@/components/figures/format-date";
import { activityHref } from "@/components/filters/href";
import { Link } from "@/components/ui/link";
import { Table, TableBody, TableCell, TableHead, TableHeader, TableRow } from "@/components/ui/table";
import type { BillAdjustment } from "@/lib/contract/bills/bill-adjustments";
import { differenceParts } from "@/lib/contract/bills/difference-parts";
import { Difference } from "./months";
import { UndoAdjustment } from "./undo-adjustment";

/** The adjustments that were booked for the differences of a month. */
export function Adjustments({
  adjustments,
  workspace,
  canUndo,
}: {
  adjustments: BillAdjustment[];
  workspace: string;
  canUndo: boolean;
}) {
  return (
    <Table aria-label="Adjustments">
      <TableHeader>
        <TableRow>
          <TableHead>Booked</TableHead>
          <TableHead className="hidden md:table-cell">Parts</TableHead>
          <TableHead className="text-right">Amount</TableHead>
          {canUndo ? (
            <TableHead>
              <span className="sr-only">Undo</span>
            </TableHead>
          ) : null}
        </TableRow>
      </TableHeader>
      <TableBody>
        {adjustments.map((one) => (
          <TableRow key={one.id}>
            <TableCell className="w-full [overflow-wrap:anywhere]">
              <Link
                href={activityHref(workspace, {
                  period: "all",
                  type: "bill_adjustment",
                  project: one.project.slug,
                })}
                className="font-medium underline-offset-4 hover:underline"
              >
                {formatCount(one.message_count, "adjustment")} in {one.project.name}
              </Link>
              <span className="block text-muted-foreground text-xs">
                {[formatDate((one.created_at ?? "").slice(0, 10)), one.created_by]
                  .filter(Boolean)
                  .join(" · ")}
              </span>
              {one.undone_at ? (
                <span className="block text-muted-foreground text-xs">
                  Undone {formatDate(one.undone_at.slice(0, 10))}
                  {one.undone_by ? ` · ${one.undone_by}` : ""}
                </span>
              ) : null}
            </TableCell>
            <TableCell className="hidden min-w-44 text-muted-foreground text-xs md:table-cell">
              {one.parts.map(({ part }) => differenceParts[part].label).join(", ")}
            </TableCell>
            <TableCell className="text-right">
              <span className={one.undone_at ? "text-muted-foreground line-through" : undefined}>
                <Difference usd={one.amount_usd} />
              </span>
            </TableCell>
            {canUndo ? (
              <TableCell className="text-right">
                {one.undone_at || one.id === null ? null : (
                  <UndoAdjustment workspace={workspace} id={one.id} />
                )}
              </TableCell>
            ) : null}
          </TableRow>
        ))}
      </TableBody>
    </Table>
  );
}
