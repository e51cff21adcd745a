import { LosslessNumber } from "lossless-json";
import { type Field, type Mapping, numberFields } from "./fields";
import type { Row } from "./row";

/** A cost message as it is posted. Its numbers are LosslessNumber, so that encoding it as JSON loses no digit. */
export type ImportedMessage = {
  project: string;
  source: "import";
  idempotency_key: string;
  message: Record<string, unknown>;
};

/** A row that cannot be converted to a message. */
export class RowError extends Error {
  override name = "RowError";
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

/** Fields that replace another one if a file has a single column for both, the cost or the vendor. */
const standIns: Partial<Record<Field, Field>> = {
  estimated_cost: "amount",
  amount: "estimated_cost",
  provider: "vendor",
  vendor: "provider",
};

/**
 * Converts a row to a cost message. The service validates the message; here only its shape is made.
 * @param idempotencyKey the key under which the row is recorded once
 * @throws RowError for an unknown type, a currency that usage cannot have, or text that is not a number
 */
export function toMessage(row: Row, mapping: Mapping, idempotencyKey: string): ImportedMessage {
  const read = (field: Field): string | undefined => {
    const column = mapping.columns[field];
    const value = column === undefined ? undefined : row.values[column]?.trim();
    return value || mapping.constants[field];
  };
  const type = read("type")?.toLowerCase() ?? guessType(read);
  const names = fieldsOf[type];
  if (!names) {
    throw new RowError(
      `type: ${type} cannot be imported; it must be one of ${Object.keys(fieldsOf).join(", ")}`,
    );
  }
  if (type === "usage") refuseOtherCurrency(read("currency"));
  const message: Record<string, unknown> = { type };
  for (const field of names) {
    const standIn = standIns[field];
    const value = read(field) ?? (standIn && read(standIn));
    if (value !== undefined) message[field] = toJson(field, value);
  }
  const occurredAt = read("occurred_at");
  if (occurredAt !== undefined) message.occurred_at = toInstant(occurredAt);
  const label = read("label");
  if (label !== undefined) message.label = label;
  const tags = read("tags");
  if (tags !== undefined) message.tags = toTags(tags);
  return { project: read("project") ?? "", source: "import", idempotency_key: idempotencyKey, message };
}

function toJson(field: Field, value: string): unknown {
  if (numberFields.has(field)) return toNumber(field, value);
  return field === "included" ? toBoolean(value) : value;
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

/** Usage is priced in USD. Reading an amount in another currency as dollars would record a wrong cost. */
function refuseOtherCurrency(currency: string | undefined): void {
  if (currency !== undefined && currency.toUpperCase() !== "USD") {
    throw new RowError(
      `currency: the cost of usage is in USD, not ${currency}; import such rows as type expense`,
    );
  }
}

/** Converts decimal text to a JSON number with the same digits, without arithmetic. */
function toNumber(field: Field, text: string): LosslessNumber {
  const [, sign, whole, fraction, exponent] = /^([+-]?)(\d*)(?:\.(\d*))?(?:e([+-]?\d+))?$/i.exec(text) ?? [];
  if (whole === undefined || (whole === "" && !fraction)) {
    throw new RowError(`${field}: "${text}" is not a number (digits with a point, no thousands separators)`);
  }
  const plain = `${sign === "-" ? "-" : ""}${whole.replace(/^0+(?=\d)/, "") || "0"}`;
  return new LosslessNumber(`${plain}${fraction ? `.${fraction}` : ""}${exponent ? `e${exponent}` : ""}`);
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
