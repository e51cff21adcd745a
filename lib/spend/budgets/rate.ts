import { parseDecimal } from "@/lib/decimal";
import { convert } from "@/lib/ledger/pricing/currency";

/** USD for one unit of a currency on a day (`YYYY-MM-DD`), exact text: the rate at which messages of that day are converted. */
export function rateOn(currency: string, day: string): string {
  return convert(parseDecimal("1"), currency, day).rate ?? "1";
}
