import { cn } from "@/components/cn";

const inDollars = new Intl.NumberFormat("en-US", { style: "currency", currency: "USD" });
const small = new Intl.NumberFormat("en-US", {
  style: "currency",
  currency: "USD",
  maximumSignificantDigits: 2,
});

/** Writes an exact decimal of US dollars: two decimals, and more only where two would show zero. */
export function formatUsd(usd: string): string {
  const size = Math.abs(Number(usd));
  const format = size > 0 && size < 0.005 ? small : inDollars;
  // As text, so that not a digit is lost on the way through a double.
  return format.format(usd as `${number}`);
}

/** An amount of money; the exact figure on hover. */
export function Money({ usd, className }: { usd: string; className?: string }) {
  return (
    <span className={cn("tabular-nums", className)} title={`$${usd}`}>
      {formatUsd(usd)}
    </span>
  );
}
