import { type Alert, lastDay, readContext } from "@/lib/alerts/alert";

/** An alert in words, for people: on the page, in mails and messages. Nothing is escaped here. */
export type AlertWords = {
  title: string;
  text: string;
  /** Labels and values. */
  facts: [string, string][];
};

const dollars = new Intl.NumberFormat("en-US", { style: "currency", currency: "USD" });
const estimates = new Intl.NumberFormat("en-US", {
  style: "currency",
  currency: "USD",
  trailingZeroDisplay: "stripIfInteger",
});
const days = new Intl.DateTimeFormat("en-US", { timeZone: "UTC", dateStyle: "medium" });
const moments = new Intl.DateTimeFormat("en-US", {
  timeZone: "UTC",
  dateStyle: "medium",
  timeStyle: "short",
});
/** Writes a count with its thousands separated. */
export const counts = new Intl.NumberFormat("en-US");
const shares = new Intl.NumberFormat("en-US", { maximumFractionDigits: 6 });

/** Dollars with two decimals. @param usd exact decimal text, which is never converted to a float */
export const money = (usd: string) => dollars.format(usd as `${number}`);
/** A forecast in dollars, without cents if its rounding left none. */
export const estimate = (usd: string) => estimates.format(usd as `${number}`);
/** A percentage with its thousands separated: "4,120%". @param percent exact decimal text */
export const shareText = (percent: string) => `${shares.format(percent as `${number}`)}%`;
/** A day of the calendar: "Nov 5, 2026". @param day `YYYY-MM-DD` */
export const dayText = (day: string) => days.format(new Date(day));
/** An instant of UTC with its time. @param at ISO 8601 */
export const momentText = (at: string) => `${moments.format(new Date(at))} UTC`;

/** The days of an alert's period: "Nov 1, 2026 to Nov 30, 2026"; empty if it has none. */
export function periodText(alert: Alert): string {
  const { period } = readContext(alert);
  return period ? `${dayText(period.from)} to ${dayText(lastDay(period.until))}` : "";
}

/** Says why an alert is over. @param recovered the text if the subject recovered @param what the subject's kind */
export function overText(
  because: ReturnType<typeof readContext>["because"],
  recovered: string,
  what: string,
): string {
  if (because === "period_over") return "The period is over, and a new one has begun.";
  if (because === "gone")
    return what === "key" ? "It was revoked, or has expired." : `The ${what} was deleted.`;
  return recovered;
}
