import { exactText } from "@/components/figures/amount";
import { bookableParts } from "@/lib/contract/bills/difference-parts";
import type { ReconciledDetail } from "@/lib/contract/bills/reconciliation";
import type { Bookable } from "./booking-dialog";

/** The bookable parts of a month's differences by provider, in the form of a client component's props. */
export function bookableOf({ providers }: ReconciledDetail): Bookable[] {
  return providers.flatMap(({ provider, parts }) => {
    const own = bookableParts.flatMap((part) =>
      parts.filter((one) => one.part === part).map(({ amount_usd: usd }) => ({ part, usd: exactText(usd) })),
    );
    return own.length === 0 ? [] : [{ provider, parts: own }];
  });
}
