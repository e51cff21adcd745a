import type { Field, Mapping } from "@/lib/ledger/import/fields";
import type { BlobContent, BlobLimits } from "@/lib/ledger/import/read-blob";

/** What a browser imports at most; `npm run import` has no limit. */
export const limits: BlobLimits = { maxRows: 50_000, maxBytes: 64 * 1024 ** 2 };

export type ChosenFile = BlobContent & { name: string };

/** Where each field comes from, and the column that holds a row's own id; an empty one is none. */
export type Choices = { mapping: Mapping; idColumn: string };

/** Fields that may have one value for all rows that have none of their own. */
export const constantFields = [
  { field: "project", label: "Project", placeholder: "checkout" },
  { field: "provider", label: "Provider or vendor", placeholder: "openai" },
  { field: "unit_type", label: "Unit of usage", placeholder: "input_tokens" },
] as const satisfies readonly { field: Field; label: string; placeholder: string }[];

/** The mapping with a column going to another field, or to none. A field takes one column: the last that was chosen. */
export function mapColumn(mapping: Mapping, column: string, field: Field | undefined): Mapping {
  const kept = Object.entries(mapping.columns).filter(([name, from]) => from !== column && name !== field);
  const columns: Mapping["columns"] = Object.fromEntries(field ? [...kept, [field, column]] : kept);
  return { ...mapping, columns };
}

/** The mapping with a value for all rows; an empty one is none. */
export function setConstant(mapping: Mapping, field: Field, value: string): Mapping {
  const { [field]: _, ...others } = mapping.constants;
  return { ...mapping, constants: value.trim() === "" ? others : { ...others, [field]: value.trim() } };
}

/** The field that a column goes to. */
export function fieldOf({ columns }: Mapping, column: string): Field | undefined {
  const [field] = Object.entries(columns).find(([, from]) => from === column) ?? [];
  return field as Field | undefined;
}

/** What still keeps the rows from being recorded at all. */
export function missing({ columns, constants }: Mapping): string | undefined {
  if (columns.project !== undefined || constants.project !== undefined) return undefined;
  return "Say which column holds the project, or give one for all rows.";
}
