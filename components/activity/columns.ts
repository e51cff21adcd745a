import type { ActivityItem } from "./row";

/** A column of the activity table that can be hidden. `sort`: the order that its heading sorts by. */
export type Column = { name: ColumnName; label: string; sort?: "time" | "quantity" };

export type ColumnName = keyof typeof texts | "time";

/** The cells of the columns that are plain text. */
const texts = {
  project: (item) => item.project,
  feature: (item) => item.feature,
  model: (item) => item.model,
  person: (item) => item.person,
  session: (item) => item.session,
  tags: (item) => item.tags,
  emitter: (item) => item.emitter,
  quantity: (item) => item.quantity,
  recordedBy: (item) => item.recordedBy,
} as const satisfies Record<string, (item: ActivityItem) => string | null>;

/** Every column besides the label and the amount, which are always shown, in their order. */
export const columns: readonly Column[] = [
  { name: "time", label: "Occurred", sort: "time" },
  { name: "project", label: "Project" },
  { name: "feature", label: "Feature" },
  { name: "model", label: "Model" },
  { name: "person", label: "Person" },
  { name: "session", label: "Session" },
  { name: "tags", label: "Tags" },
  { name: "emitter", label: "Emitter" },
  { name: "quantity", label: "Quantity", sort: "quantity" },
  { name: "recordedBy", label: "Recorded by" },
];

const defaultColumns: readonly ColumnName[] = ["time", "project", "recordedBy"];

/** The cookie that remembers the columns in the browser: their names, joined with dots. */
export const columnsCookie = "activity_columns";

/** The columns to show. @param remembered the value of the cookie */
export function readColumns(remembered: string | undefined): ColumnName[] {
  if (remembered === undefined) return [...defaultColumns];
  const wanted = remembered.split(".");
  return columns.map(({ name }) => name).filter((name) => wanted.includes(name));
}

/** The text of a cell. */
export const textOf = (item: ActivityItem, name: Exclude<ColumnName, "time">): string =>
  texts[name](item) ?? "";
