import { formatExactPercent } from "@/components/figures/format-percent";
import { formatEquation, type Priced } from "./equation";

/** How an amount was calculated: the equation, and where its price or exchange rate is from. */
export function CostOrigin({
  priced,
  details = null,
  compact = false,
}: {
  priced: Priced;
  details?: Record<string, unknown> | null;
  /** Whether to show only the equation, if there is one. */
  compact?: boolean;
}) {
  const equation = formatEquation(priced);
  const source = formatSource(priced, details);
  return (
    <div className="grid gap-0.5 text-sm">
      {equation ? (
        <p data-equation className="break-words font-mono text-[13px]">
          {equation}
        </p>
      ) : null}
      {compact && equation ? null : <p className="text-muted-foreground text-xs">{source}</p>}
    </div>
  );
}

function formatSource(
  { cost_status: status, price }: Priced,
  details: Record<string, unknown> | null,
): string {
  if (status === "unpriced") return "No price is known yet. The cost counts as zero until a price is set.";
  if (status === "included")
    return "A subscription covers this usage. Its list price is not counted as spend.";
  if (status === "converted" && price) return `The rate of ${price.date}, from ${price.source}.`;
  if (status === "priced" && price) return formatPriceSource(price);
  if (details?.from_project !== undefined) return formatAllocation(details);
  return "The cost was sent with the message.";
}

function formatPriceSource(price: NonNullable<Priced["price"]>): string {
  const { source, version, provider, model, unit, tier } = price as Record<string, unknown>;
  const what = [provider, model, String(unit).replaceAll("_", " ")].filter(Boolean).join(" · ");
  const { aboveInputTokens: threshold, service } = (tier ?? {}) as Record<string, unknown>;
  const long =
    threshold === undefined
      ? ""
      : ` This is the price for requests with more than ${threshold} input tokens.`;
  const served = service === undefined ? "" : ` This is the price of the service tier ${service}.`;
  const from =
    source === "override" ? `Price of this workspace (${version})` : `Price catalogue, version ${version}`;
  return `${from}: ${what}.${long}${served}`;
}

function formatAllocation({ from_project: from, percent }: Record<string, unknown>): string {
  if (percent === undefined || percent === null) return `Moved from ${from}.`;
  return `${formatExactPercent(String(percent))} of what ${from} had spent that month.`;
}
