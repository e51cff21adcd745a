import { text } from "./fields";

function isTimeZone(name: string): boolean {
  // Refuses offsets such as +02:00, whose days would not follow daylight saving time.
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}

/** A time zone by its name in the time zone database. */
export const timeZone = text(64)
  .refine(isTimeZone, "must be the name of a time zone, like Europe/Berlin or UTC")
  .meta({ description: "The time zone in which its days begin, by its name in the time zone database." });
