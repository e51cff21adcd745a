import { exactText } from "@/components/amount";
import { formatDate } from "@/components/format-date";
import { Table, TableBody, TableCell, TableHead, TableHeader, TableRow } from "@/components/ui/table";
import { formatRate, type Price, startFromPrice } from "./price-view";
import { SetPrice } from "./set-price";

/** A workspace's own prices, with the first day of each. Admins can change them. */
export function PriceTable({
  prices,
  workspace,
  canSet,
  today,
}: {
  prices: Price[];
  workspace: string;
  canSet: boolean;
  /** The current UTC day, `YYYY-MM-DD`. */
  today: string;
}) {
  return (
    <Table aria-label="Own prices">
      <TableHeader>
        <TableRow>
          <TableHead className="pl-0">Price of</TableHead>
          <TableHead className="text-right">US dollars</TableHead>
          <TableHead className="hidden sm:table-cell">From</TableHead>
          {canSet ? (
            <TableHead className="pr-0">
              <span className="sr-only">Change price</span>
            </TableHead>
          ) : null}
        </TableRow>
      </TableHeader>
      <TableBody>
        {prices.map((price) => {
          const { id, provider, model, unit_type: unit, rate, starts_at: start } = price;
          return (
            <TableRow key={id} className="[&>td]:align-middle">
              <TableCell className="w-full min-w-32 pl-0">
                <span className="font-medium [overflow-wrap:anywhere]">{model ?? "Every model"}</span>
                <span className="block text-muted-foreground text-xs [overflow-wrap:anywhere]">
                  {provider}, {unit}
                </span>
                <span className="block text-muted-foreground text-xs sm:hidden">
                  from {formatDate(start)}
                </span>
              </TableCell>
              <TableCell
                className="whitespace-nowrap text-right tabular-nums"
                title={`$${exactText(rate)} per unit`}
                data-figure="rate"
                data-exact={exactText(rate)}
              >
                {formatRate(exactText(rate), unit)}
              </TableCell>
              <TableCell className="hidden whitespace-nowrap sm:table-cell" title={start}>
                {formatDate(start)}
              </TableCell>
              {canSet ? (
                <TableCell className="pr-0 text-right">
                  <SetPrice
                    workspace={workspace}
                    start={startFromPrice(price, today)}
                    label="Change"
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
