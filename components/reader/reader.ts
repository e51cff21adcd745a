import { defaultLocale, type Locale } from "@/lib/contract/values/locales";

/**
 * A currency in which amounts are shown, besides or instead of the USD in which they are recorded.
 * `perUsd`: its units for one USD at the latest rate, as exact text, for amounts without a day.
 * `rateDate`: the day of that rate, `YYYY-MM-DD`. `isOld`: it is more than a week old.
 */
export type DisplayCurrency = {
  currency: string;
  besideUsd: boolean;
  perUsd: string;
  rateDate: string;
  source: string;
  isOld: boolean;
};

/**
 * How a page shows figures to its reader. `locale`: for numbers and dates. `display`: the currency of amounts; null for USD.
 * `timeZone`: that of the page's workspace, for its days and for times.
 */
export type Reader = { locale: Locale; display: DisplayCurrency | null; timeZone: string };

export const defaultReader: Reader = { locale: defaultLocale, display: null, timeZone: "UTC" };
