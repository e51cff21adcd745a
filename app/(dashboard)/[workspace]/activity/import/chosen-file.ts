import { guessByContents } from "@/lib/ledger/import/contents";
import { type Field, guessMapping, type Mapping } from "@/lib/ledger/import/fields";
import type { Readings } from "@/lib/ledger/import/notation";
import type { BlobContent, BlobLimits } from "@/lib/ledger/import/read-blob";
import type { KnownProject } from "@/lib/ledger/import/readings";

/** The limits of an import in the browser; `npm run import` has none. */
export const limits: BlobLimits = { maxRows: 50_000, maxBytes: 64 * 1024 ** 2 };

/** A file that the browser has read. */
export type ChosenFile = BlobContent & { name: string };

/**
 * The mapping of columns to fields, and the column with the ids of the rows; empty if there is none. `readings`: the chosen
 * readings of numbers and dates. `takesNames`: whether project names are read as the shown slugs. `guessed`: fields whose column
 * was guessed from its values.
 */
export type Choices = {
  mapping: Mapping;
  idColumn: string;
  readings?: Readings;
  takesNames?: boolean | undefined;
  guessed?: ReadonlySet<Field>;
};

/** The initial choices for a file: fields are guessed from the names of columns, then from their values. */
export function firstChoices({ columns, rows }: BlobContent, projects: readonly KnownProject[]): Choices {
  const mapping = guessMapping(columns, { map: {}, set: {} });
  const isTaken = (field: Field) => mapping.columns[field] !== undefined;
  const found = guessByContents(rows, mapping.unused, isTaken, projects);
  const taken = new Set(Object.values(found));
  return {
    mapping: {
      ...mapping,
      columns: { ...mapping.columns, ...found },
      unused: mapping.unused.filter((column) => !taken.has(column)),
    },
    idColumn: "",
    guessed: new Set(Object.keys(found) as Field[]),
  };
}

/** Fields that can have a value for all rows without their own. */
export const constantFields = [
  { field: "project", label: "Project", placeholder: "checkout" },
  { field: "provider", label: "Provider or vendor", placeholder: "openai" },
  { field: "unit_type", label: "Unit of usage", placeholder: "input_tokens" },
] as const satisfies readonly { field: Field; label: string; placeholder: string }[];

/** Maps a column to another field, or to none. A field has one column, so its previous column becomes unmapped. */
export function mapColumn(mapping: Mapping, column: string, field: Field | undefined): Mapping {
  const kept = Object.entries(mapping.columns).filter(([name, from]) => from !== column && name !== field);
  const columns: Mapping["columns"] = Object.fromEntries(field ? [...kept, [field, column]] : kept);
  return { ...mapping, columns };
}

/** Sets the value of a field for all rows without their own; an empty value removes it. */
export function setConstant(mapping: Mapping, field: Field, value: string): Mapping {
  const { [field]: _, ...others } = mapping.constants;
  return { ...mapping, constants: value.trim() === "" ? others : { ...others, [field]: value.trim() } };
}

/** The field that a column is mapped to; undefined when it is not imported. */
export function fieldOf({ columns }: Mapping, column: string): Field | undefined {
  const [field] = Object.entries(columns).find(([, from]) => from === column) ?? [];
  return field as Field | undefined;
}

/** Says what is missing in the mapping before any row can be recorded; undefined when nothing is. */
export function findMissing({ columns, constants }: Mapping): string | undefined {
  if (columns.project !== undefined || constants.project !== undefined) return undefined;
  return "Choose the column that contains the project, or enter a project for all rows.";
}
