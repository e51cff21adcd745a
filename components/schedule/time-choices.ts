/** The days of a week, for a choice: Monday first. */
export const weekdays = [
  { value: "monday", label: "Monday" },
  { value: "tuesday", label: "Tuesday" },
  { value: "wednesday", label: "Wednesday" },
  { value: "thursday", label: "Thursday" },
  { value: "friday", label: "Friday" },
  { value: "saturday", label: "Saturday" },
  { value: "sunday", label: "Sunday" },
] as const;

/** A day of the week in the form of the API. */
export type Weekday = (typeof weekdays)[number]["value"];

/** The time zones that this browser knows, for a choice: UTC first. */
export const zones = ["UTC", ...Intl.supportedValuesOf("timeZone").filter((name) => name !== "UTC")].map(
  (name) => ({ value: name, label: name }),
);
