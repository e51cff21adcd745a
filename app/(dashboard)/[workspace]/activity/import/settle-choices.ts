import type { Mapping } from "@/lib/ledger/import/fields";
import {
  findQuestions,
  type KnownProject,
  type ProjectReading,
  type Questions,
  readProjectNames,
  settled,
} from "@/lib/ledger/import/readings";
import { type Choices, type ChosenFile, findMissing } from "./chosen-file";

/** The open questions of a file with a mapping, and the mapping completed with the choices. */
export type Settled = {
  questions: Questions;
  names: ProjectReading[];
  mapping: Mapping;
  /** What still has to be chosen before rows can be recorded; undefined if nothing. */
  problem: string | undefined;
};

/** Finds the possible readings of a file, and completes the mapping with the chosen readings and the unambiguous ones. */
export function settleChoices(
  file: ChosenFile,
  { mapping, readings = {}, takesNames }: Choices,
  projects: readonly KnownProject[],
): Settled {
  const questions = findQuestions(file.rows, mapping);
  const names = readProjectNames(file.rows, mapping, projects);
  const decimals = settled(readings.decimals, questions.decimals);
  const dates = settled(readings.dates, questions.dates);
  const slugs = names.flatMap(({ name, slug }) => (slug === undefined ? [] : [[name, slug] as const]));
  const whole = {
    ...mapping,
    readings: { decimals, dates },
    ...(takesNames === true && { projects: Object.fromEntries(slugs) }),
  };
  const problem =
    findMissing(mapping) ??
    (questions.decimals && decimals === undefined ? "Choose how numbers are written." : undefined) ??
    (questions.dates && dates === undefined ? "Choose how dates are written." : undefined) ??
    (names.length > 0 && takesNames === undefined ? "Choose how project names are read." : undefined);
  return { questions, names, mapping: whole, problem };
}
