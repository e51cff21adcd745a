import { exactText } from "@/components/figures/amount";
import { multiplyExact, subtractExact } from "@/components/figures/exact";
import { formatDate } from "@/components/figures/format-date";
import { Money } from "@/components/figures/money";
import { usualPortion } from "@/components/prices/price-view";
import { UsePrice } from "@/components/prices/use-price";
import { Table, TableBody, TableCell, TableHead, TableHeader, TableRow } from "@/components/ui/table";
import type { LearnedPrice } from "@/lib/contract/bills/reconciliation";
import { Difference } from "./months";

/** A rate with all its digits, for the usual portion of the unit: "$1.0625 a million". */
function exactRate(rate: string, unit: string): string {
  const portion = usualPortion(unit);
  const [whole = "0", decimals = ""] = multiplyExact(rate, portion).split(".");
  return `$${whole}.${decimals.padEnd(2, "0")} ${portion === "1" ? "each" : "a million"}`;
}

/** Prices learned from bills, their effect, and a button for each that makes it the workspace's own price. */
export function LearnedPrices({
  prices,
  workspace,
  canSet,
}: {
  prices: LearnedPrice[];
  workspace: string;
  canSet: boolean;
}) {
  return (
    <Table aria-label="Prices on the bill">
      <TableHeader>
        <TableRow>
          <TableHead>Price</TableHead>
          <TableHead className="hidden text-right md:table-cell">Recorded</TableHead>
          <TableHead className="hidden text-right md:table-cell">At this price</TableHead>
          <TableHead className="hidden text-right sm:table-cell">Change</TableHead>
          {canSet ? (
            <TableHead>
              <span className="sr-only">Set</span>
            </TableHead>
          ) : null}
        </TableRow>
      </TableHeader>
      <TableBody>
        {prices.map((price) => {
          const { provider, model, unit_type: unit, from, now_usd: now, then_usd: then } = price;
          const rate = exactRate(exactText(price.rate), unit);
          const recorded = price.recorded_rate === null ? undefined : exactText(price.recorded_rate);
          const change = subtractExact(exactText(then), exactText(now));
          return (
            <TableRow key={`${provider} ${model} ${unit}`}>
              <TableCell className="w-full [overflow-wrap:anywhere]">
                <span className="font-medium">{model}</span>{" "}
                <span className="text-muted-foreground">{unit.replaceAll("_", " ")}</span>
                <span className="block text-xs">
                  {rate} since {formatDate(from)}
                  {recorded ? `, recorded at ${exactRate(recorded, unit)}` : ""}
                </span>
                <span className="block text-muted-foreground text-xs sm:hidden">
                  Change <Difference usd={change} />
                </span>
              </TableCell>
              <TableCell className="hidden whitespace-nowrap text-right md:table-cell">
                <Money usd={now} inUsd />
              </TableCell>
              <TableCell className="hidden whitespace-nowrap text-right md:table-cell">
                <Money usd={then} inUsd />
              </TableCell>
              <TableCell className="hidden text-right sm:table-cell">
                <Difference usd={change} />
              </TableCell>
              {canSet ? (
                <TableCell className="text-right">
                  <UsePrice
                    workspace={workspace}
                    label={`Use ${rate} for ${model}, ${unit.replaceAll("_", " ")}`}
                    price={{
                      ...{ provider, model, unitType: unit, startsOn: from },
                      rate: exactText(price.rate),
                      formerRate: recorded,
                    }}
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
