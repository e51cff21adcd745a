import { Check } from "lucide-react";
import type { z } from "zod";
import { exactText, toNumber } from "@/components/figures/amount";
import { formatExactPercent } from "@/components/figures/format-percent";
import { formatUsd } from "@/components/figures/money";
import { Time } from "@/components/figures/time";
import type { budget as budgetSchema } from "@/lib/contract/spend/budgets";

type Budget = z.output<typeof budgetSchema>;

/** A threshold that was reached in the present period. `level`: `80`, or `$500`. */
export type Reached = { level: string; at: string; wasAbove: boolean };

type Threshold = { level: string; label: string; fraction: number };

/** The thresholds of a budget, the lowest first, as fractions of its limit. */
export function thresholdsOf({ alert_at: alertAt, amount }: Budget): Threshold[] {
  const limit = toNumber(amount);
  const shares = alertAt.percent.map((percent) => ({
    level: exactText(percent),
    label: formatExactPercent(percent),
    fraction: toNumber(percent) / 100,
  }));
  const amounts = alertAt.usd.map((usd) => ({
    level: `$${exactText(usd)}`,
    label: formatUsd(usd),
    fraction: limit > 0 ? toNumber(usd) / limit : 0,
  }));
  return [...shares, ...amounts].sort((a, b) => a.fraction - b.fraction);
}

/** Says which thresholds were reached in the present period and when, and which were not. */
export function Thresholds({ thresholds, reached }: { thresholds: Threshold[]; reached: Reached[] }) {
  if (thresholds.length === 0) return null;
  const crossingOf = (threshold: Threshold | undefined) =>
    reached.find((each) => each.level === threshold?.level);
  return (
    <ul aria-label="Thresholds" className="flex flex-wrap gap-x-3 gap-y-0.5 text-muted-foreground text-xs">
      {thresholds.map((threshold, index) => {
        const { level, label } = threshold;
        const crossed = crossingOf(threshold);
        // Said once, of the highest of those that were reached by then.
        const isSaidOfNext = crossingOf(thresholds[index + 1])?.wasAbove;
        return (
          <li key={level} className="inline-flex items-center gap-1">
            {crossed ? <Check aria-hidden="true" className="size-3" /> : null}
            <span className={crossed ? "text-foreground" : undefined}>{label}</span>
            {crossed ? (
              crossed.wasAbove ? (
                <span className={isSaidOfNext ? "sr-only" : undefined}>
                  already reached when the budget was created
                </span>
              ) : (
                <>
                  <span className="sr-only">reached</span>
                  <Time at={crossed.at} />
                </>
              )
            ) : (
              <span className="sr-only">not reached</span>
            )}
          </li>
        );
      })}
    </ul>
  );
}
