import type { Readings } from "./notation";

/**
 * The fields that an import can fill, each with other common names of its column.
 */
export const fields = {
  project: ["project_slug", "project_name", "app", "application", "service"],
  type: ["message_type", "kind"],
  provider: ["llm_provider", "platform"],
  model: ["model_name", "model_id"],
  unit_type: ["unit", "usage_type", "token_type", "metric"],
  quantity: ["qty", "units", "tokens", "count", "usage"],
  cached_quantity: ["cached_tokens", "cached"],
  request_input_tokens: [],
  service_tier: ["tier"],
  estimated_cost: ["estimated_cost_usd", "cost_usd", "cost", "spend", "price"],
  feature: ["feature_name", "tag"],
  user: ["end_user", "user_email", "email", "person"],
  session: ["session_id", "conversation_id"],
  included: ["covered_by_subscription"],
  tags: ["labels"],
  batch_id: ["batch"],
  vendor: ["supplier", "merchant", "payee"],
  amount: ["amount_usd", "total", "charge"],
  currency: ["currency_code"],
  category: [],
  notes: ["note", "description", "memo", "comment"],
  interval: ["billing_interval", "period"],
  plan: [],
  seats: [],
  starts_on: ["start_date"],
  from_project: ["source_project"],
  percent: ["percentage"],
  occurred_at: ["date", "timestamp", "time", "datetime", "created_at", "day", "transaction_date"],
  label: ["title", "name"],
} as const satisfies Record<string, readonly string[]>;

export type Field = keyof typeof fields;
export const fieldNames = Object.keys(fields) as Field[];

/** Fields whose values are JSON numbers. */
export const numberFields: ReadonlySet<Field> = new Set<Field>([
  "quantity",
  "cached_quantity",
  "request_input_tokens",
  "estimated_cost",
  "amount",
  "percent",
  "seats",
]);

/** The source of each field: a column of the file, or the same value for every row. */
export type Mapping = {
  columns: Partial<Record<Field, string>>;
  constants: Partial<Record<Field, string>>;
  /** Columns that are not mapped to a field; their values are not imported. */
  unused: string[];
  /** How numbers and dates are written; plain digits with a point and ISO 8601 by default. */
  readings?: Readings;
  /** Project names that occur in the file → slugs. */
  projects?: Readonly<Record<string, string>>;
};

/** An invalid mapping. The message says what to write instead. */
export class MappingError extends Error {
  override name = "MappingError";
}

/**
 * Like `guessMapping`, for a caller who cannot complete the mapping afterwards.
 * @throws MappingError as `guessMapping`, and if the project has neither a column nor a value
 */
export function chooseMapping(
  columns: readonly string[],
  given: { map: Record<string, string>; set: Record<string, string> },
): Mapping {
  const mapping = guessMapping(columns, given);
  if (mapping.columns.project === undefined && mapping.constants.project === undefined) {
    throw new MappingError(
      "No column holds the project. Say which with --project-column COLUMN, or give one with --set project=SLUG.",
    );
  }
  return mapping;
}

/**
 * Chooses a column for each field: one with the field's name, otherwise one with another of its names. Given columns and
 * values have precedence.
 * @param given.map field → column
 * @param given.set field → value
 * @throws MappingError if a given field or column does not exist
 */
export function guessMapping(
  columns: readonly string[],
  given: { map: Record<string, string>; set: Record<string, string> },
): Mapping {
  const mapping: Mapping = { columns: {}, constants: {}, unused: [] };
  for (const [name, value] of Object.entries(given.set)) mapping.constants[fieldNamed(name)] = value;
  for (const [name, column] of Object.entries(given.map)) {
    if (!columns.includes(column)) {
      throw new MappingError(`There is no column "${column}"; there are: ${columns.join(", ")}.`);
    }
    mapping.columns[fieldNamed(name)] = column;
  }
  const taken = new Set(Object.values(mapping.columns));
  const offer = (field: Field, names: readonly string[]) => {
    if (mapping.columns[field] !== undefined || mapping.constants[field] !== undefined) return;
    const column = names
      .map((name) => columns.find((candidate) => !taken.has(candidate) && plainName(candidate) === name))
      .find((candidate) => candidate !== undefined);
    if (column === undefined) return;
    mapping.columns[field] = column;
    taken.add(column);
  };
  for (const field of fieldNames) offer(field, [field]);
  for (const field of fieldNames) offer(field, fields[field]);
  mapping.unused = columns.filter((column) => !taken.has(column));
  return mapping;
}

function fieldNamed(name: string): Field {
  const field = fieldNames.find((candidate) => candidate === name);
  if (field === undefined) {
    throw new MappingError(`There is no field "${name}"; there are: ${fieldNames.join(", ")}.`);
  }
  return field;
}

/** Normalises a column's name: `Unit Type`, `unitType`, `message.unit_type` → `unit_type`. */
function plainName(column: string): string {
  const last = column.trim().split(".").at(-1) ?? "";
  return last
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .replace(/[^A-Za-z0-9]+/g, "_")
    .replace(/^_+|_+$/g, "")
    .toLowerCase();
}
