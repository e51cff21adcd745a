/** Writes an instant in the form of responses: ISO 8601 in UTC with `+00:00`. @param ms milliseconds since 1970 */
export function toInstant(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, -1)}+00:00`;
}

/** The milliseconds since 1970 of an ISO 8601 instant, including the fraction of a millisecond that `Date.parse` drops. */
export function exactMs(instant: string): number {
  const [, beyond = "0"] = /\.\d{3}(\d+)/.exec(instant) ?? [];
  return Date.parse(instant) + Number(`0.${beyond}`);
}

/** The UTC calendar day of an instant, `YYYY-MM-DD`. @param ms milliseconds since 1970 */
export function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
