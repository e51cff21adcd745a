import type { Comparison, Period } from "@/lib/contract/spend/ledger-query";

/** A range that moves with time, and what it is compared with: what a page shows where its address names no days. */
export type RememberedRange = { period: Exclude<Period, "range">; compare: Exclude<Comparison, "range"> };

/** The cookie that keeps the range that was last chosen in this browser. The server reads it, so that a page begins with it. */
export const rangeCookie = "outlay_range";

const yearS = 31_536_000;

/** Writes the cookie as `document.cookie` takes it. */
export function writeRangeCookie({ period, compare }: RememberedRange, isSecure: boolean): string {
  return `${rangeCookie}=${period}.${compare}; Path=/; Max-Age=${yearS}; SameSite=Lax${isSecure ? "; Secure" : ""}`;
}

/** Reads the cookie's value, whose parts a page checks as it checks its address. @returns null where there are not two */
export function readRangeCookie(value: string | undefined): { period: string; compare: string } | null {
  const [period, compare, ...more] = (value ?? "").split(".");
  return period && compare && more.length === 0 ? { period, compare } : null;
}
