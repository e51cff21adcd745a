import type { Comparison, Period } from "@/lib/contract/spend/ledger-query";

/** A range without fixed days and its comparison, which a page shows if its address names no days. */
export type RememberedRange = { period: Exclude<Period, "range">; compare: Exclude<Comparison, "range"> };

/** The cookie with the range that was last chosen in this browser. The server reads it, so that a page begins with that range. */
export const rangeCookie = "outlay_range";

const yearS = 31_536_000;

/** Writes the cookie in the form of `document.cookie`. */
export function writeRangeCookie({ period, compare }: RememberedRange, isSecure: boolean): string {
  return `${rangeCookie}=${period}.${compare}; Path=/; Max-Age=${yearS}; SameSite=Lax${isSecure ? "; Secure" : ""}`;
}

/** Reads the cookie's value. The page validates the parts like its address. @returns null if there are not two parts */
export function readRangeCookie(value: string | undefined): { period: string; compare: string } | null {
  const [period, compare, ...more] = (value ?? "").split(".");
  return period && compare && more.length === 0 ? { period, compare } : null;
}
