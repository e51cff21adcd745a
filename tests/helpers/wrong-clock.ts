/** Settings of a service whose own clock is so many days off; the database's is right. */
export function wrongClock(days: number): Record<string, string> {
  // Every static is the new Date's own: Next copies them one by one.
  const code = `const Real = Date; const now = () => Real.now() + ${days * 86_400_000};
    class Shifted extends Real {
      constructor(...values) { if (values.length) super(...values); else super(now()); }
    }
    globalThis.Date = Object.assign(Shifted, { now, UTC: Real.UTC, parse: Real.parse });`;
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(code)}` };
}
