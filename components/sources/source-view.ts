import { exactText } from "@/components/figures/amount";
import type { Source } from "@/lib/contract/sources/sources";

/** A source with its amounts as exact text, so that a server component can pass it to a client component. */
export type SourceView = Omit<Source, "arrivals"> & { arrivals: ArrivalView[] };

/** What one emitter has sent; `amount_usd` is exact text. */
export type ArrivalView = Omit<Source["arrivals"][number], "latest"> & {
  latest:
    | (Omit<NonNullable<Source["arrivals"][number]["latest"]>, "amount_usd"> & { amount_usd: string })
    | null;
};

/** A source for client components, to which exact numbers cannot be passed: amounts are text. */
export function toSourceView(source: Source): SourceView {
  return {
    ...source,
    arrivals: source.arrivals.map(({ latest, ...arrival }) => ({
      ...arrival,
      latest: latest && { ...latest, amount_usd: exactText(latest.amount_usd) },
    })),
  };
}
