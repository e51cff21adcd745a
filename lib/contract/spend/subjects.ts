import type { ExactNumber } from "@/lib/contract/values/exact-number";
import type { Dimension } from "./metrics";
import type { ComparedStretch } from "./spend-comparison";

/** The dimensions whose values have a page of their own. */
export const subjectDimensions = [
  "project",
  "user",
  "key",
  "model",
  "feature",
  "tag",
] as const satisfies readonly Dimension[];
export type SubjectDimension = (typeof subjectDimensions)[number];

/** A subject. `value`: the slug of a project, the id of a key, `name:value` of a tag, otherwise the name. */
export type Subject = { dimension: SubjectDimension; value: string };

/**
 * What a subject cost in a range up to now, and how that differs from the days compared with; null if nothing is compared. `unpriced`: how many
 * lines have no price, and count as 0.
 */
export type SubjectSpend = {
  value: string;
  name: string;
  spent: ExactNumber;
  messages: number;
  unpriced: number;
  change: { before: ExactNumber; difference: ExactNumber; isNew: boolean } | null;
};

/** The listed subjects of a dimension. `compared`: the stretch they are compared with; `found`: the number of all subjects. */
export type SubjectList = { subjects: SubjectSpend[]; found: number; compared: ComparedStretch | null };

/** How each project's spend differs from that of the days compared with, by the project's slug. */
export type ChangesOfProjects = Pick<SubjectList, "compared"> & {
  of: Record<string, SubjectSpend["change"]>;
};
