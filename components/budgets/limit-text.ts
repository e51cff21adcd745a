import { exactText } from "@/components/figures/amount";
import { formatAmount } from "@/components/figures/money";
import { limitingProviders, takesLimits } from "@/lib/contract/bills/limit-kinds";
import type { LimitState, ProviderLimit } from "@/lib/contract/bills/provider-limits";
import { pulledProviders } from "@/lib/contract/bills/pulled-providers";

/** A limit at a provider, for a client component. */
export type LimitView = {
  id: string;
  /** What is limited: "OpenAI project Checkout". */
  target: string;
  state: LimitState;
  /** The budget's limit there, as text: "$500.00 a month". */
  wanted: string;
  /** The limit that can be accepted, as text; null where there is none. */
  acceptable: string | null;
  removes: boolean;
};

export const limitStates: Record<
  LimitState,
  { label: string; variant: "outline" | "success" | "warning" | "destructive" }
> = {
  waiting: { label: "Being set", variant: "outline" },
  equal: { label: "Set", variant: "success" },
  drift: { label: "Changed there", variant: "warning" },
  refused: { label: "Refused", variant: "destructive" },
  gone: { label: "Not found there", variant: "destructive" },
  removing: { label: "Being removed", variant: "outline" },
};

type Held = NonNullable<ProviderLimit["held"]>;
const inUsd = (amount: Held["limit_usd"]) => formatAmount(amount ?? 0, "USD");

/** The limit that a provider holds, as text: "$300.00 a month". */
export function formatHeld({ limit_usd: limit, period, stops }: Held): string {
  if (limit === null) return "no limit";
  const resets = period === "lifetime" ? "in all" : `a ${period}`;
  return `${inUsd(limit)} ${resets}${stops ? "" : ", which only alerts"}`;
}

/** What is limited, as text: "OpenAI project Checkout". */
export function formatTarget({ account, kind, name }: ProviderLimit): string {
  const { label } = pulledProviders[account.provider];
  const { provider } = account;
  const what = (takesLimits(provider) && limitingProviders[provider].kinds[kind]?.label) || kind;
  return kind === "organization"
    ? `${label} ${account.name ?? what}`
    : `${label} ${what} ${name ?? "(name not read yet)"}`;
}

/** A limit of an answer, for a client component. */
export function toLimitView(limit: ProviderLimit): LimitView {
  const { id, state, held, period, removes_limit: removes, limit_usd: wanted } = limit;
  const canAccept =
    state === "drift" && held !== null && held.limit_usd !== null && held.period === period && held.stops;
  return {
    ...{ id, state, removes, target: formatTarget(limit) },
    wanted: wanted === null ? "" : `${formatAmount(exactText(wanted), "USD")} a ${period}`,
    acceptable: canAccept && held ? formatHeld(held) : null,
  };
}
