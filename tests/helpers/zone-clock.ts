/** The clocks of zones, each made once: making one takes longer than its answer. */
const clocks = new Map<string, Intl.DateTimeFormat>();

function openClock(zone: string): Intl.DateTimeFormat {
  const clock = new Intl.DateTimeFormat("en-US", {
    ...{ timeZone: zone, hourCycle: "h23", year: "numeric", month: "numeric", day: "numeric" },
    ...{ hour: "numeric", minute: "numeric", second: "numeric" },
  });
  clocks.set(zone, clock);
  return clock;
}

/** Milliseconds between UTC and a zone's clock at an instant, by the JavaScript engine's own time zone data. */
export function offsetOf(zone: string, at: number): number {
  const parts = (clocks.get(zone) ?? openClock(zone)).formatToParts(at);
  const of = (type: string) => Number(parts.find((part) => part.type === type)?.value);
  const shown = Date.UTC(of("year"), of("month") - 1, of("day"), of("hour"), of("minute"), of("second"));
  return shown - Math.floor(at / 1000) * 1000;
}

/** The instant of a clock in a zone. @param local milliseconds since 1970 of a UTC clock with the same digits */
export function instantOf(zone: string, local: number): number {
  const first = local - offsetOf(zone, local);
  return local - offsetOf(zone, first);
}

/** The first moments of a day's period and of the one before, by the clock of the zone. */
export function periodsOf(period: "day" | "week" | "month", day: string): [number, number] {
  const at = new Date(`${day}T00:00:00Z`);
  const dayMs = 86_400_000;
  if (period === "day") return [at.getTime(), at.getTime() - dayMs];
  if (period === "week") {
    const monday = at.getTime() - ((at.getUTCDay() + 6) % 7) * dayMs;
    return [monday, monday - 7 * dayMs];
  }
  return [
    Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), 1),
    Date.UTC(at.getUTCFullYear(), at.getUTCMonth() - 1, 1),
  ];
}
