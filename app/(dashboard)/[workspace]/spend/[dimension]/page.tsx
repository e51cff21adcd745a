import { SearchX } from "lucide-react";
import type { Metadata } from "next";
import { notFound } from "next/navigation";
import { cache, Suspense } from "react";
import { requireWorkspace } from "@/app/(dashboard)/[workspace]/membership";
import { clockNow, readPageRange, readRememberedRange } from "@/app/(dashboard)/[workspace]/page-range";
import { readRememberedViews } from "@/app/(dashboard)/[workspace]/remembered-views";
import { serviceAddresses } from "@/app/(dashboard)/[workspace]/service-addresses";
import { SubjectFigures } from "@/app/(dashboard)/[workspace]/subject-figures";
import { asProp, exactText } from "@/components/figures/amount";
import { formatNumber } from "@/components/figures/format-count";
import { environments, oneOf, type SearchParams } from "@/components/filters/href";
import { EnvironmentSwitch } from "@/components/filters/pickers";
import { RangePicker } from "@/components/filters/range-picker";
import { ChoiceProblem, RangeProblem } from "@/components/filters/range-problem";
import { KeyActions } from "@/components/keys/key-actions";
import { toKeyView } from "@/components/keys/key-view";
import { PageHeader } from "@/components/shell/page-header";
import { AddSourceLink } from "@/components/sources/add-source-link";
import { toChangeView } from "@/components/spend/change-column";
import { describeStretch } from "@/components/spend/period-labels";
import { SpendSkeleton } from "@/components/spend/spend-skeleton";
import { SubjectKinds } from "@/components/subjects/subject-kinds";
import {
  isSubjectDimension,
  stackedBeside,
  subjectHref,
  subjectNames,
  subjectsHref,
} from "@/components/subjects/subject-names";
import { SubjectTable } from "@/components/subjects/subject-table";
import { EmptyState } from "@/components/ui/empty-state";
import type { SubjectDimension } from "@/lib/contract/spend/subjects";
import { ServiceError } from "@/lib/errors";
import { listApiKeys, readSpendingKey } from "@/lib/keys/management/service";
import { listSubjects } from "@/lib/spend/subjects/service";

type Props = {
  params: Promise<{ workspace: string; dimension: string }>;
  searchParams: Promise<SearchParams>;
};

/** Reads the dimension of an address, and the subject if it has a `name`. Projects have an address of their own. */
const readAddress = cache(async (params: Props["params"], searchParams: Props["searchParams"]) => {
  const { workspace: slug, dimension } = await params;
  if (!isSubjectDimension(dimension) || dimension === "project") notFound();
  const { claims, workspace } = await requireWorkspace(slug);
  const search = await searchParams;
  const value = typeof search.name === "string" && search.name !== "" ? search.name : undefined;
  if (dimension !== "key" || value === undefined)
    return { slug, workspace, dimension, search, value, title: value };
  const { api_keys: keys, grantable_permissions: grantable } = await listApiKeys(claims, slug);
  const listed = keys.find(({ id }) => id === value);
  // OAuth connections also spend, but are not listed with the API keys.
  const key = await readSpendingKey(claims, slug, value).catch(notFoundIfMissing);
  return {
    slug,
    workspace,
    dimension,
    search,
    value,
    title: key.name,
    limit: { limit: key.limit, spent: key.spent },
    edited: listed?.can_edit ? { apiKey: toKeyView(listed), grantable } : undefined,
  };
});

function notFoundIfMissing(error: unknown): never {
  if (error instanceof ServiceError && error.code === "not_found") notFound();
  throw error;
}

export async function generateMetadata({ params, searchParams }: Props): Promise<Metadata> {
  const { dimension, title } = await readAddress(params, searchParams);
  return { title: title ?? subjectNames[dimension].many };
}

/** What people, keys, models, features or tags cost: the list of all, or with `name` the page of one. */
export default async function SpendPage({ params, searchParams }: Props) {
  const { slug, workspace, dimension, search, value, title, ...more } = await readAddress(
    params,
    searchParams,
  );
  const shown = readPageRange(search, await readRememberedRange(), clockNow(workspace));
  const path = `/${slug}/spend/${dimension}`;
  const { many } = subjectNames[dimension];
  const environment = oneOf(search, "environment", environments);
  return (
    <>
      <PageHeader
        title={title ?? many}
        {...(value !== undefined && {
          parent: { href: subjectsHref(slug, dimension, shown.params), label: many },
        })}
        actions={
          <>
            <EnvironmentSwitch path={path} params={shown.params} />
            <RangePicker path={path} params={shown.params} range={shown.range} />
            {more.edited ? (
              <KeyActions {...more.edited} workspace={slug} addresses={serviceAddresses()} />
            ) : null}
          </>
        }
      />
      <RangeProblem problem={shown.problem} />
      <ChoiceProblem
        params={shown.params}
        choices={{ environment: environments, ...(value !== undefined && { by: stackedBeside(dimension) }) }}
      />
      {value === undefined ? (
        <SubjectKinds workspace={slug} current={dimension} params={shown.params} />
      ) : null}
      <Suspense
        fallback={
          <div className="grid gap-8" aria-busy="true">
            <SpendSkeleton />
          </div>
        }
      >
        {value === undefined ? (
          <Subjects slug={slug} dimension={dimension} environment={environment} shown={shown} />
        ) : (
          <SubjectFigures
            workspace={slug}
            subject={{ dimension, value }}
            limit={more.limit}
            path={path}
            search={shown.params}
            range={shown.query}
          />
        )}
      </Suspense>
    </>
  );
}

async function Subjects({
  slug,
  dimension,
  environment,
  shown,
}: {
  slug: string;
  dimension: SubjectDimension;
  environment: "live" | "test";
  shown: ReturnType<typeof readPageRange>;
}) {
  const { claims, user, workspace, reader } = await requireWorkspace(slug);
  const query = { ...shown.query, dimension, environment };
  const { subjects, found, compared } = await listSubjects(claims, slug, query, reader.display?.currency);
  const { many, noun, field } = subjectNames[dimension];
  if (subjects.length === 0)
    return (
      <EmptyState
        icon={<SearchX />}
        title={
          dimension === "key" ? "No key recorded a cost in these days" : `No ${noun} is named in these days`
        }
        action={<AddSourceLink workspace={workspace} />}
      >
        Choose other days.
        {field ? (
          <>
            {" "}
            Messages name a {noun} in their field <code>{field}</code>.
          </>
        ) : null}
      </EmptyState>
    );
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-4">
      <p className="text-muted-foreground text-sm">
        {found > subjects.length
          ? `The ${formatNumber(subjects.length)} of ${formatNumber(found)} ${many.toLowerCase()} with the highest spend. `
          : `${formatNumber(found)} ${found === 1 ? noun : many.toLowerCase()}. `}
        {compared ? `Change: against ${describeStretch(compared, shown.range.today)}.` : null}
        {dimension === "tag" ? " Spend counts once for each of its tags." : null}
      </p>
      <SubjectTable
        workspace={slug}
        dimension={dimension}
        subjects={subjects.map(({ value, name, spent, messages, unpriced, change }) => ({
          ...{ value, name, messages, unpriced },
          href: subjectHref(slug, { dimension, value }, shown.params),
          spent: asProp(spent),
          // What has no price costs nothing in either stretch, which is no comparison.
          change: unpriced > 0 && exactText(spent) === "0" ? null : toChangeView(change),
        }))}
        views={await readRememberedViews(user.id)}
      />
    </div>
  );
}
