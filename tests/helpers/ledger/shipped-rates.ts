import { shippedRates } from "@/lib/ledger/pricing/rates/history";
import { findRate } from "@/lib/ledger/pricing/rates/rate-table";

/** The rate of a day as it ships: USD for one unit, with its day. `currency.test.ts` compares these with published figures. */
export function shippedRate(currency: string, day: string): { rate: string; date: string; source: string } {
  const found = findRate(shippedRates, currency, day);
  if (!found) throw new Error(`There is no rate of ${currency}.`);
  return found;
}
