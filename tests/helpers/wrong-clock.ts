/** Settings of a service whose own clock is wrong by this many days; the database's clock is right. */
export function wrongClock(days: number): Record<string, string> {
  // Defines every static property on the new Date itself, because Next copies them one by one.
  const code = `const Real = Date; const now = () => Real.now() + ${days * 86_400_000};
    class Shifted extends Real {
      constructor(...values) { if (values.length) super(...values); else super(now()); }
    }
    globalThis.Date = Object.assign(Shifted, { now, UTC: Real.UTC, parse: Real.parse });`;
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(code)}` };
}
