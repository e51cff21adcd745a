/** Writes an instant as responses have it: ISO 8601 in UTC with `+00:00`. @param ms milliseconds since 1970 */
export function toInstant(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, -1)}+00:00`;
}

/** The UTC calendar day of an instant, `YYYY-MM-DD`. @param ms milliseconds since 1970 */
export function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
