import { LosslessNumber } from "lossless-json";
import { type Field, type Mapping, numberFields } from "./fields";
import type { Row } from "./row";

/** A cost message as it is posted; numbers are LosslessNumber, so that writing it as JSON loses no digit. */
export type ImportedMessage = {
  project: string;
  source: "import";
  idempotency_key: string;
  message: Record<string, unknown>;
};

/** Why a row cannot even be posted. */
export class RowError extends Error {
  override name = "RowError";
}

/** What a message of each type may have besides `occurred_at` and `label`. Of a row it takes these fields and no others. */
const fieldsOf: Record<string, readonly Field[]> = {
  usage: [
    "provider",
    "model",
    "unit_type",
    "quantity",
    "cached_quantity",
    "request_input_tokens",
    "estimated_cost",
    "feature",
    "batch_id",
  ],
  expense: ["vendor", "amount", "currency", "category", "notes"],
  subscription: ["vendor", "amount", "currency", "interval", "plan", "seats", "starts_on"],
  allocation: ["from_project", "amount", "percent", "notes"],
};

/** Fields that stand in for another where a file has one column for both: what was paid, and to whom. */
const standIns: Partial<Record<Field, Field>> = {
  estimated_cost: "amount",
  amount: "estimated_cost",
  provider: "vendor",
  vendor: "provider",
};

/**
 * Makes the cost message of a row. What it means is the service's to judge; here it only gets its shape.
 * @param idempotencyKey the key under which the row is recorded once
 * @throws RowError
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
    if (value !== undefined) message[field] = numberFields.has(field) ? toNumber(field, value) : value;
  }
  const occurredAt = read("occurred_at");
  if (occurredAt !== undefined) message.occurred_at = toInstant(occurredAt);
  const label = read("label");
  if (label !== undefined) message.label = label;
  return { project: read("project") ?? "", source: "import", idempotency_key: idempotencyKey, message };
}

/** A row that does not say its type is usage where it counts something, else an expense. */
function guessType(read: (field: Field) => string | undefined): string {
  const isUsage = (["quantity", "unit_type", "model"] as const).some((field) => read(field) !== undefined);
  return isUsage ? "usage" : "expense";
}

/** The cost of usage is in USD: taking another currency's figure for dollars would be a wrong number, not a missing one. */
function refuseOtherCurrency(currency: string | undefined): void {
  if (currency !== undefined && currency.toUpperCase() !== "USD") {
    throw new RowError(
      `currency: the cost of usage is in USD, not ${currency}; import such rows as type expense`,
    );
  }
}

/** Decimal text as a JSON number: the same digits, never arithmetic. */
function toNumber(field: Field, text: string): LosslessNumber {
  const [, sign, whole, fraction, exponent] = /^([+-]?)(\d*)(?:\.(\d*))?(?:e([+-]?\d+))?$/i.exec(text) ?? [];
  if (whole === undefined || (whole === "" && !fraction)) {
    throw new RowError(`${field}: "${text}" is not a number (digits with a point, no thousands separators)`);
  }
  const plain = `${sign === "-" ? "-" : ""}${whole.replace(/^0+(?=\d)/, "") || "0"}`;
  return new LosslessNumber(`${plain}${fraction ? `.${fraction}` : ""}${exponent ? `e${exponent}` : ""}`);
}

/** A date, a date and time without an offset (UTC), or Unix seconds or milliseconds as an instant; the rest as it is. */
function toInstant(text: string): string {
  if (/^\d{4}-\d\d-\d\d$/.test(text)) return `${text}T00:00:00Z`;
  const [, day, time] = /^(\d{4}-\d\d-\d\d)[ Tt](\d\d:\d\d(?::\d\d(?:\.\d+)?)?)(?: ?UTC)?$/.exec(text) ?? [];
  if (day && time) return `${day}T${time.length === 5 ? `${time}:00` : time}Z`;
  if (/^\d{10}$/.test(text)) return new Date(Number(text) * 1000).toISOString();
  if (/^\d{13}$/.test(text)) return new Date(Number(text)).toISOString();
  return text.replace(/^(\d{4}-\d\d-\d\d) (\d\d:.*)$/, "$1T$2");
}
