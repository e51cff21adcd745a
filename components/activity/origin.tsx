import { type Priced, writeEquation } from "./equation";

/** How an amount came about: the equation, and where its price or rate is from. */
export function Origin({
  priced,
  details = null,
  compact = false,
}: {
  priced: Priced;
  details?: Record<string, unknown> | null;
  /** The equation alone where there is one. */
  compact?: boolean;
}) {
  const equation = writeEquation(priced);
  const words = describeOrigin(priced, details);
  return (
    <div className="grid gap-0.5 text-sm">
      {equation ? (
        <p data-equation className="break-words font-mono text-[13px]">
          {equation}
        </p>
      ) : null}
      {compact && equation ? null : <p className="text-muted-foreground text-xs">{words}</p>}
    </div>
  );
}

function describeOrigin(
  { cost_status: status, price }: Priced,
  details: Record<string, unknown> | null,
): string {
  if (status === "unpriced") return "No price is known yet. It counts nothing until one is set.";
  if (status === "converted" && price) return `The rate of ${price.date}, from ${price.source}.`;
  if (status === "priced" && price) return describePrice(price);
  if (details?.from_project !== undefined) return describeAllocation(details);
  return "The cost was given with it.";
}

function describePrice(price: NonNullable<Priced["price"]>): string {
  const { source, version, provider, model, unit, tier } = price as Record<string, unknown>;
  const what = [provider, model, String(unit).replaceAll("_", " ")].filter(Boolean).join(" · ");
  const threshold = (tier as { aboveInputTokens?: unknown } | undefined)?.aboveInputTokens;
  const long = threshold === undefined ? "" : ` The price of requests with over ${threshold} input tokens.`;
  const from =
    source === "override"
      ? `A price of this workspace (${version})`
      : `The catalogue of prices, version ${version}`;
  return `${from}: ${what}.${long}`;
}

function describeAllocation({ from_project: from, percent }: Record<string, unknown>): string {
  if (percent === undefined || percent === null) return `Moved from ${from}.`;
  return `${percent} % of what ${from} had spent that month.`;
}
