import Link from "next/link";
import { exactText } from "@/components/amount";
import { activityHref } from "@/components/filters/href";
import { formatDigits } from "@/components/format-count";
import { Time } from "@/components/time";
import { Table, TableBody, TableCell, TableHead, TableHeader, TableRow } from "@/components/ui/table";
import { startFromUnpriced, type Unpriced } from "./price-view";
import { SetPrice } from "./set-price";

/** Usage without a price, which counts as $0. Admins can set its price. */
export function UnpricedTable({
  unpriced,
  workspace,
  canSet,
}: {
  unpriced: Unpriced[];
  workspace: string;
  canSet: boolean;
}) {
  return (
    <Table aria-label="Without a price">
      <TableHeader>
        <TableRow>
          <TableHead className="pl-0">What</TableHead>
          <TableHead className="text-right">Units</TableHead>
          <TableHead className="hidden text-right md:table-cell">Lines</TableHead>
          <TableHead className="hidden sm:table-cell">First occurred</TableHead>
          {canSet ? (
            <TableHead className="pr-0">
              <span className="sr-only">Set price</span>
            </TableHead>
          ) : null}
        </TableRow>
      </TableHeader>
      <TableBody>
        {unpriced.map((each) => {
          const { provider, model, unit_type: unit } = each;
          return (
            <TableRow key={`${provider}/${model}/${unit}`} className="[&>td]:align-middle">
              <TableCell className="w-full min-w-32 pl-0">
                <Link
                  href={activityHref(workspace, {
                    period: "all",
                    environment: "live",
                    provider,
                    model,
                    cost_status: "unpriced",
                  })}
                  prefetch={false}
                  className="rounded-sm font-medium underline-offset-4 [overflow-wrap:anywhere] hover:underline"
                >
                  {model ?? "No model"}
                </Link>
                <span className="block text-muted-foreground text-xs [overflow-wrap:anywhere]">
                  {provider}, {unit}
                </span>
              </TableCell>
              <TableCell
                className="text-right tabular-nums"
                data-figure="quantity"
                data-exact={exactText(each.quantity)}
              >
                {formatDigits(exactText(each.quantity))}
              </TableCell>
              <TableCell className="hidden text-right tabular-nums md:table-cell">
                {formatDigits(String(each.line_count))}
              </TableCell>
              <TableCell className="hidden whitespace-nowrap sm:table-cell">
                <Time at={each.first_occurred_at} />
              </TableCell>
              {canSet ? (
                <TableCell className="pr-0 text-right">
                  <SetPrice
                    workspace={workspace}
                    start={startFromUnpriced(each)}
                    label="Set price"
                    of={`${model ?? provider}, ${unit}`}
                  />
                </TableCell>
              ) : null}
            </TableRow>
          );
        })}
      </TableBody>
    </Table>
  );
}
