import { hrefWith, type SearchParams } from "@/components/filters/href";
import { keepRange } from "@/components/filters/range";
import type { Dimension } from "@/lib/contract/spend/metrics";
import { type Subject, type SubjectDimension, subjectDimensions } from "@/lib/contract/spend/subjects";

/** The names of the kinds of subjects. `field`: the field by which messages name one. */
export const subjectNames: Record<
  SubjectDimension,
  { one: string; many: string; noun: string; field?: string }
> = {
  project: { one: "Project", many: "Projects", noun: "project", field: "project" },
  user: { one: "Person", many: "People", noun: "person", field: "user" },
  key: { one: "Key", many: "Keys", noun: "key" },
  model: { one: "Model", many: "Models", noun: "model", field: "model" },
  feature: { one: "Feature", many: "Features", noun: "feature", field: "feature" },
  tag: { one: "Tag", many: "Tags", noun: "tag", field: "tags" },
};

/** Whether a dimension has pages of its own. */
export const isSubjectDimension = (dimension: string): dimension is SubjectDimension =>
  subjectDimensions.some((each) => each === dimension);

/** The address of the list of a kind, with the range and the environment of a page. */
export function subjectsHref(
  workspace: string,
  dimension: SubjectDimension,
  params: SearchParams = {},
): string {
  const path = dimension === "project" ? `/${workspace}/projects` : `/${workspace}/spend/${dimension}`;
  return hrefWith(path, keepRange(params), {});
}

/** The address of the page of a subject, with the range and the environment of a page. */
export function subjectHref(
  workspace: string,
  { dimension, value }: Subject,
  params: SearchParams = {},
): string {
  if (dimension === "project") return hrefWith(`/${workspace}/projects/${value}`, keepRange(params), {});
  return hrefWith(`/${workspace}/spend/${dimension}`, { name: value, ...keepRange(params) }, {});
}

/** The dimensions that break down the spend of a subject: all except its own. */
export const dimensionsBeside = (dimension: SubjectDimension): Dimension[] =>
  (["project", "model", "user", "feature", "key", "provider", "tag"] as const).filter(
    (each) => each !== dimension,
  );

/** The dimensions that a subject's chart can be stacked by, the default first. */
export const stackedBeside = (dimension: SubjectDimension): Dimension[] =>
  (dimension === "model"
    ? (["project", "user", "feature", "type"] as const)
    : (["model", "project", "feature", "provider", "type"] as const)
  ).filter((each) => each !== dimension);
