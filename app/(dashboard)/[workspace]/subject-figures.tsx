import { environments, oneOf, type SearchParams } from "@/components/filters/href";
import { toSpendView } from "@/components/spend/spend-view";
import type { KeyLimit } from "@/components/subjects/subject-limits";
import { stackedBeside } from "@/components/subjects/subject-names";
import { SubjectPage } from "@/components/subjects/subject-page";
import type { RangeQuery } from "@/lib/contract/spend/ledger-query";
import type { Subject } from "@/lib/contract/spend/subjects";
import { readSubject } from "@/lib/spend/views/subject";
import { requireWorkspace } from "./membership";
import { readThresholdNotes } from "./threshold-notes";

/** The figures of the page of a project, a person, a key, a model, a feature or a tag. */
export async function SubjectFigures({
  workspace,
  subject,
  limit,
  path,
  search,
  range,
}: {
  workspace: string;
  subject: Subject;
  /** The monthly limit of a key. */
  limit?: KeyLimit | undefined;
  path: string;
  search: SearchParams;
  range: RangeQuery;
}) {
  const member = await requireWorkspace(workspace);
  const { claims, reader } = member;
  const filter = {
    environment: oneOf(search, "environment", environments),
    [subject.dimension]: subject.value,
  } as const;
  const read = await readSubject(claims, workspace, subject, {
    ...range,
    environment: filter.environment,
    group_by: oneOf(search, "by", stackedBeside(subject.dimension)),
    currency: reader.display?.currency,
  });
  const view = toSpendView(workspace, read.metrics, filter, read.projectOrder, read.now);
  // Only budgets for all spend or a project have notes in charts.
  const notes =
    subject.dimension === "project"
      ? await readThresholdNotes(claims, member.workspace, read.metrics, {
          ...filter,
          project: subject.value,
        })
      : [];
  return (
    <SubjectPage
      subject={subject}
      view={view}
      changes={read.changes}
      budgets={read.budgets}
      limit={limit}
      latest={read.latest}
      notes={notes}
      path={path}
      params={search}
    />
  );
}
