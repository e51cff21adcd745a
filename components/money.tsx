import { type Amount, exactText } from "@/components/amount";
import { cn } from "@/components/cn";

const inDollars = new Intl.NumberFormat("en-US", { style: "currency", currency: "USD" });
const small = new Intl.NumberFormat("en-US", {
  style: "currency",
  currency: "USD",
  maximumSignificantDigits: 2,
});
const rough = new Intl.NumberFormat("en-US", {
  style: "currency",
  currency: "USD",
  notation: "compact",
  maximumFractionDigits: 1,
  trailingZeroDisplay: "stripIfInteger",
});

/** US dollars with two decimals, or with two significant digits when two decimals would show zero. */
export function formatUsd(usd: Amount): string {
  const text = exactText(usd);
  const size = Math.abs(Number(text));
  const format = size > 0 && size < 0.005 ? small : inDollars;
  // Passed as text, because a double would lose digits.
  return format.format(text as `${number}`);
}

/** An amount in a currency (ISO 4217), with the decimals of that currency. */
export function formatAmount(amount: Amount, currency: string): string {
  const format = new Intl.NumberFormat("en-US", { style: "currency", currency });
  // Passed as text, because a double would lose digits.
  return format.format(exactText(amount) as `${number}`);
}

/** US dollars with their sign: "+$36.12", "−$5.00"; zero has no sign. */
export function formatSignedUsd(usd: Amount): string {
  const text = exactText(usd);
  if (Number(text) === 0) return formatUsd(text);
  return text.startsWith("-") ? `−${formatUsd(text.slice(1))}` : `+${formatUsd(text)}`;
}

/** US dollars for the axis of a chart, shortened: "$1.2K". */
export function formatRoughUsd(usd: number): string {
  return Math.abs(usd) > 0 && Math.abs(usd) < 10 ? formatUsd(usd) : rough.format(usd);
}

/**
 * An amount in US dollars, with the exact figure on hover.
 * @param props.figure name of the figure in the API, for tests that compare what is shown with the API's answer
 */
export function Money({ usd, figure, className }: { usd: Amount; figure?: string; className?: string }) {
  const exact = exactText(usd);
  return (
    <span
      className={cn("tabular-nums", className)}
      title={`$${exact}`}
      {...(figure && { "data-figure": figure, "data-exact": exact })}
    >
      {formatUsd(usd)}
    </span>
  );
}
