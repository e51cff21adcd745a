"use client";

import { formatDate } from "@/components/figures/format-date";
import { startOfDay } from "@/components/figures/utc-day";
import { callApi } from "@/components/requests/api";
import { useMutation } from "@/components/requests/use-mutation";
import { Button } from "@/components/ui/button";
import type { setPriceRequest, setPriceResult } from "@/lib/contract/ledger/prices";
import { ExactNumber } from "@/lib/contract/values/exact-number";

/**
 * The price that a click sets: `rate` is USD for one unit as exact text, `startsOn` a UTC day, `YYYY-MM-DD`. `formerRate`: the rate of
 * the usage recorded since then, which an undo restores.
 */
type PriceToUse = {
  provider: string;
  model: string;
  unitType: string;
  rate: string;
  startsOn: string;
  formerRate?: string | undefined;
};

/**
 * A button that makes a catalogue's price the workspace's own, and corrects what was recorded since its start.
 * @param props.label the accessible name, which tells the buttons of a list apart
 */
export function UsePrice({
  workspace,
  price,
  label,
}: {
  workspace: string;
  price: PriceToUse;
  label: string;
}) {
  const { provider, model, unitType, startsOn, formerRate } = price;
  const from = startOfDay(startsOn);
  const set = (rate: string) =>
    callApi<typeof setPriceResult, typeof setPriceRequest>("PUT", `/api/v1/workspaces/${workspace}/prices`, {
      ...{ provider, model, unit_type: unitType, rate: new ExactNumber(rate) },
      ...{ starts_at: from, reprice: { from } },
    });
  const { run, isPending } = useMutation(() => set(price.rate), {
    done: `The price is set. Usage since ${formatDate(startsOn)} is being corrected.`,
    ...(formerRate !== undefined && {
      undo: { run: () => set(formerRate), done: "The former price is set. Usage is being corrected back." },
    }),
  });
  return (
    <Button variant="outline" size="sm" aria-label={label} disabled={isPending} onClick={() => run()}>
      Use this price
    </Button>
  );
}
