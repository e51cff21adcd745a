import { type Field, type Mapping, numberFields } from "./fields";
import { type DayOrder, type DecimalMark, readDate, readNumber } from "./notation";
import type { ReadRow } from "./row";

/**
 * An ambiguous notation of a file. `options`: the readings that fit every text, or all readings if none does. A single option is the
 * answer; of several, the user has to choose one. `example`: a text that the readings read differently.
 */
export type Question<Reading> = { options: Reading[]; example: string };

/** The questions of a file; undefined where all readings give the same values. */
export type Questions = {
  decimals: Question<DecimalMark> | undefined;
  dates: Question<DayOrder> | undefined;
};

const marks: DecimalMark[] = ["point", "comma"];
const orders: DayOrder[] = ["dmy", "mdy"];

/** Finds how the numbers and dates of the mapped columns can be read. Reads every row. */
export function findQuestions(rows: readonly ReadRow[], { columns }: Mapping): Questions {
  const textsOf = (fields: Iterable<Field>) => {
    const named = [...fields].flatMap((field) => columns[field] ?? []);
    const texts = new Set<string>();
    for (const row of rows) {
      if (!("values" in row)) continue;
      for (const column of named) texts.add(row.values[column]?.trim() ?? "");
    }
    texts.delete("");
    return texts;
  };
  return {
    decimals: ask(marks, textsOf(numberFields), readNumber),
    dates: ask(orders, textsOf(["occurred_at", "starts_on"]), readDate),
  };
}

/** Finds the readings that fit all texts. Ignores texts that no reading fits: their rows are refused with the reason. */
function ask<Reading>(
  readings: Reading[],
  texts: ReadonlySet<string>,
  read: (text: string, reading: Reading) => string | undefined,
): Question<Reading> | undefined {
  const fits = new Map(readings.map((reading) => [reading, true]));
  let example: string | undefined;
  let isShared = false;
  for (const text of texts) {
    const results = readings.map((reading) => read(text, reading));
    if (results.every((result) => result === results[0])) continue;
    for (const [index, reading] of readings.entries())
      if (results[index] === undefined) fits.set(reading, false);
    // The best example is a text that all readings can read.
    const fitsAll = results.every((result) => result !== undefined);
    if (example === undefined || (fitsAll && !isShared)) example = text;
    isShared ||= fitsAll;
  }
  if (example === undefined) return undefined;
  const options = readings.filter((reading) => fits.get(reading));
  return { options: options.length > 0 ? options : readings, example };
}

/** The chosen reading, otherwise the only option; undefined if the user has to choose. */
export function settled<Reading>(
  chosen: Reading | undefined,
  question: Question<Reading> | undefined,
): Reading | undefined {
  return chosen ?? (question?.options.length === 1 ? question.options[0] : undefined);
}

const maxSlug = 64;

/** A project of the workspace. */
export type KnownProject = { slug: string; name: string };

/** The slug for a project name of the file. `isNew`: no project has this slug yet. */
export type ProjectReading = { name: string; slug: string | undefined; isNew: boolean };

/**
 * The values of the project's column that are not slugs, each with a slug: that of the project with this name, otherwise one made from
 * the name. `slug` is undefined if several projects have the name, or if it has no letter or digit.
 */
export function readProjectNames(
  rows: readonly ReadRow[],
  { columns }: Mapping,
  known: readonly KnownProject[],
): ProjectReading[] {
  const column = columns.project;
  if (column === undefined) return [];
  const names = new Set(rows.flatMap((row) => ("values" in row ? (row.values[column]?.trim() ?? "") : [])));
  return [...names].filter((name) => name !== "" && !isSlug(name)).map((name) => readProject(name, known));
}

function readProject(name: string, known: readonly KnownProject[]): ProjectReading {
  const plain = name.toLocaleLowerCase();
  const named = known.filter((project) => project.name.toLocaleLowerCase() === plain);
  if (named.length > 1) return { name, slug: undefined, isNew: false };
  const made = named[0]?.slug ?? toSlug(name);
  return { name, slug: made, isNew: !known.some((project) => project.slug === made) };
}

/** The contract's rule for slugs, repeated here because the browser does not load zod. A test compares the two. */
export const isSlug = (text: string) => /^[a-z0-9][a-z0-9._-]{0,63}$/.test(text);

/** `Équipe Recherche` → `equipe-recherche`; undefined if no letter or digit is left. */
function toSlug(name: string): string | undefined {
  const made = name
    .normalize("NFKD")
    .replace(/\p{M}+/gu, "")
    .replaceAll("ß", "ss")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, maxSlug)
    .replace(/^-+|-+$/g, "");
  return made === "" ? undefined : made;
}
