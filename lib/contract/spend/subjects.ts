import type { ExactNumber } from "@/lib/contract/values/exact-number";
import type { Dimension } from "./metrics";
import type { ComparedStretch } from "./spend-comparison";

/** What has a page of its own: a project, a person, a key, a model, a feature or a tag. */
export const subjectDimensions = [
  "project",
  "user",
  "key",
  "model",
  "feature",
  "tag",
] as const satisfies readonly Dimension[];
export type SubjectDimension = (typeof subjectDimensions)[number];

/** One of them. `value`: the slug of a project, the id of a key, `name:value` of a tag, otherwise the name. */
export type Subject = { dimension: SubjectDimension; value: string };

/** What one of a kind cost in a range up to now, and how it differs from what it is compared with; null where nothing is compared. */
export type SubjectSpend = {
  value: string;
  name: string;
  spent: ExactNumber;
  messages: number;
  change: { before: ExactNumber; difference: ExactNumber; isNew: boolean } | null;
};

/** All of a kind, as far as they are listed. `compared`: the stretch that they are compared with; `found`: how many there are. */
export type SubjectList = { subjects: SubjectSpend[]; found: number; compared: ComparedStretch | null };

/** How each project's spend differs from what it is compared with, by its slug. */
export type ChangesOfProjects = Pick<SubjectList, "compared"> & {
  of: Record<string, SubjectSpend["change"]>;
};
