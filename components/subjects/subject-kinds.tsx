import type { SearchParams } from "@/components/filters/href";
import { SegmentedLinks } from "@/components/ui/segmented-control";
import { type SubjectDimension, subjectDimensions } from "@/lib/contract/spend/subjects";
import { subjectNames, subjectsHref } from "./subject-names";

/** Links to the lists of all kinds: projects, people, keys, models, features and tags. */
export function SubjectKinds({
  workspace,
  current,
  params,
}: {
  workspace: string;
  current: SubjectDimension;
  params: SearchParams;
}) {
  return (
    <SegmentedLinks
      label="Spend by"
      // On a phone, all of them fit.
      className="mb-6 max-sm:[&_a]:px-1.5"
      options={subjectDimensions.map((dimension) => ({
        label: subjectNames[dimension].many,
        href: subjectsHref(workspace, dimension, params),
        current: dimension === current,
      }))}
    />
  );
}
