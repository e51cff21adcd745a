import { defaultLocale, type Locale } from "@/lib/contract/values/locales";

/**
 * A currency in which amounts are shown, besides or instead of the USD in which they are recorded.
 * `perUsd`: its units for one USD by the latest rate, as exact text, for amounts that are of no day.
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
 * How the person who reads a page wants its figures: by which locale numbers and dates are written, and in which currency
 * amounts are shown. `display` is null for USD. `timeZone`: that of the workspace of the page, whose days its figures are of; times
 * are written in it, too.
 */
export type Reader = { locale: Locale; display: DisplayCurrency | null; timeZone: string };

export const defaultReader: Reader = { locale: defaultLocale, display: null, timeZone: "UTC" };
