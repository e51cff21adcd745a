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

/** Writes an exact decimal of US dollars: two decimals, and more only where two would show zero. */
export function formatUsd(usd: Amount): string {
  const text = exactText(usd);
  const size = Math.abs(Number(text));
  const format = size > 0 && size < 0.005 ? small : inDollars;
  // As text, so that not a digit is lost on the way through a double.
  return format.format(text as `${number}`);
}

/** Writes US dollars as short as an axis has room for: $1.2K. */
export function formatRoughUsd(usd: number): string {
  return Math.abs(usd) > 0 && Math.abs(usd) < 10 ? formatUsd(usd) : rough.format(usd);
}

/**
 * An amount of money; the exact figure on hover.
 * @param figure what the API calls it: tests hold what is shown under that name against the API's answer
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
