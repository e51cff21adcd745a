import { LosslessNumber } from "lossless-json";
import { type Field, type Mapping, numberFields } from "./fields";
import { type DayOrder, type DecimalMark, type Readings, readDate, readNumber } from "./notation";
import type { FileRow } from "./row";

/** A cost message as it is posted. Its numbers are LosslessNumber, so that encoding it as JSON loses no digit. */
export type ImportedMessage = {
  project: string;
  source: "import";
  idempotency_key: string;
  message: Record<string, unknown>;
};

/** A row cannot be converted to a message. Lists every problem. */
export class RowError extends Error {
  override name = "RowError";

  /**
   * @param issues the problems, by field
   * @param rest the message with the text of the wrong fields unchanged, so that the service can validate the other fields
   */
  constructor(
    readonly issues: { field: string; reason: string }[],
    readonly rest?: ImportedMessage,
  ) {
    super(issues.map(({ field, reason }) => `${field}: ${reason}`).join("; "));
  }
}

/** The fields of each type besides `occurred_at`, `label` and `tags`. Other fields of a row are ignored. */
const fieldsOf: Record<string, readonly Field[]> = {
  usage: [
    "provider",
    "model",
    "unit_type",
    "quantity",
    "cached_quantity",
    "request_input_tokens",
    "service_tier",
    "estimated_cost",
    "feature",
    "user",
    "session",
    "included",
    "batch_id",
  ],
  expense: ["vendor", "amount", "currency", "category", "notes"],
  subscription: ["vendor", "amount", "currency", "interval", "plan", "seats", "starts_on"],
  allocation: ["from_project", "amount", "percent", "notes"],
};

/** Field → the field that is read instead if it is missing: a file may have one column for the cost or the vendor. */
const standIns: Partial<Record<Field, Field>> = {
  estimated_cost: "amount",
  amount: "estimated_cost",
  provider: "vendor",
  vendor: "provider",
};

/**
 * Converts a row to a cost message, which the service validates.
 * @param idempotencyKey the key under which the row is recorded once
 * @throws RowError for an unknown type, a currency that usage cannot have, and text that is not a number or a date
 */
export function toMessage(row: FileRow, mapping: Mapping, idempotencyKey: string): ImportedMessage {
  const issues: RowError["issues"] = [];
  const read = (field: Field): string | undefined => {
    const column = mapping.columns[field];
    const value = column === undefined ? undefined : row.values[column]?.trim();
    return value || mapping.constants[field];
  };
  const convert = (field: Field, value: string): unknown => {
    const converted = toJson(field, value, mapping.readings);
    if (!(converted instanceof Issue)) return converted;
    issues.push({ field, reason: converted.reason });
    return value;
  };
  const given = read("type")?.toLowerCase();
  const type = given !== undefined && given in fieldsOf ? given : guessType(read);
  if (given !== undefined && given !== type) {
    const known = Object.keys(fieldsOf).join(", ");
    issues.push({ field: "type", reason: `${given} cannot be imported; it must be one of ${known}` });
  }
  const currency = read("currency");
  // Usage is priced in USD. Reading an amount in another currency as dollars would record a wrong cost.
  if (type === "usage" && currency !== undefined && currency.toUpperCase() !== "USD") {
    const reason = `the cost of usage is in USD, not ${currency}; import such rows as type expense`;
    issues.push({ field: "currency", reason });
  }
  const message: Record<string, unknown> = { type };
  for (const field of fieldsOf[type] ?? []) {
    const standIn = standIns[field];
    const value = read(field) ?? (standIn && read(standIn));
    if (value !== undefined) message[field] = convert(field, value);
  }
  for (const field of ["occurred_at", "label", "tags"] as const) {
    const value = read(field);
    if (value !== undefined) message[field] = convert(field, value);
  }
  const project = read("project") ?? "";
  const named = mapping.projects?.[project] ?? project;
  const imported: ImportedMessage = {
    ...{ project: named, source: "import", idempotency_key: idempotencyKey },
    message,
  };
  if (issues.length > 0) throw new RowError(issues, imported);
  return imported;
}

/** Why a text cannot be the value of its field. */
class Issue {
  constructor(readonly reason: string) {}
}

/** Converts the value of a field, or returns an Issue. Text that needs no conversion is left for the service to validate. */
function toJson(field: Field, value: string, readings: Readings = {}): unknown {
  if (numberFields.has(field)) return toNumber(value, readings.decimals);
  if (field === "included") return toBoolean(value);
  if (field === "tags") return toTags(value);
  if (field !== "occurred_at" && field !== "starts_on") return value;
  const dated = toDate(value, readings.dates);
  return field === "starts_on" || dated instanceof Issue ? dated : toInstant(dated);
}

/** Leaves other text unchanged for the service to validate. */
function toBoolean(value: string): boolean | string {
  if (/^(true|yes|1)$/i.test(value)) return true;
  return /^(false|no|0)$/i.test(value) ? false : value;
}

/** `team:growth; cost_center:4711` → an object. Leaves other text unchanged for the service to validate. */
function toTags(value: string): Record<string, string> | string {
  const pairs = value.split(";").map((tag) => /^([^:]+):(.*)$/.exec(tag.trim()));
  if (!pairs.every((pair) => pair !== null)) return value;
  return Object.fromEntries(pairs.map(([, name = "", text = ""]) => [name.trim(), text.trim()]));
}

/** The type of a row that does not name one: usage if it has a quantity, unit or model, otherwise an expense. */
function guessType(read: (field: Field) => string | undefined): string {
  const isUsage = (["quantity", "unit_type", "model"] as const).some((field) => read(field) !== undefined);
  return isUsage ? "usage" : "expense";
}

/** Converts decimal text to a JSON number with the same digits, without arithmetic. */
function toNumber(text: string, mark: DecimalMark | undefined): LosslessNumber | Issue {
  const digits = readNumber(text, mark);
  if (digits !== undefined) return new LosslessNumber(digits);
  const expected =
    mark === undefined
      ? "digits with a point, no thousands separators"
      : mark === "comma"
        ? "such as 1.234,56"
        : "such as 1,234.56";
  return new Issue(`"${text}" is not a number (${expected})`);
}

/** Converts a date with the day or the month first to `YYYY-MM-DD`. Leaves any other text unchanged. */
function toDate(text: string, order: DayOrder | undefined): string | Issue {
  const read = order === undefined ? undefined : readDate(text, order);
  if (read !== undefined) return read;
  if (!/^\d{1,2}[./-]\d{1,2}[./-]\d{2,4}/.test(text)) return text;
  const expected =
    order === undefined ? "YYYY-MM-DD" : order === "dmy" ? "day, month, year" : "month, day, year";
  return new Issue(`"${text}" is not a date (${expected})`);
}

/**
 * Converts a date, a date and time without an offset (taken as UTC), or Unix seconds or milliseconds to ISO 8601. Leaves
 * other text unchanged for the service to validate.
 */
function toInstant(text: string): string {
  if (/^\d{4}-\d\d-\d\d$/.test(text)) return `${text}T00:00:00Z`;
  const [, day, time] = /^(\d{4}-\d\d-\d\d)[ Tt](\d\d:\d\d(?::\d\d(?:\.\d+)?)?)(?: ?UTC)?$/.exec(text) ?? [];
  if (day && time) return `${day}T${time.length === 5 ? `${time}:00` : time}Z`;
  if (/^\d{10}$/.test(text)) return new Date(Number(text) * 1000).toISOString();
  if (/^\d{13}$/.test(text)) return new Date(Number(text)).toISOString();
  return text.replace(/^(\d{4}-\d\d-\d\d) (\d\d:.*)$/, "$1T$2");
}
