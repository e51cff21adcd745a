import { toItem } from "@/components/activity/row";
import { Money } from "@/components/figures/money";
import { Time } from "@/components/figures/time";
import { activityHref, hrefWith, type SearchParams } from "@/components/filters/href";
import { SpendBreakdowns } from "@/components/spend/spend-breakdowns";
import { SpendOverTime } from "@/components/spend/spend-over-time";
import { SpendStats } from "@/components/spend/spend-stats";
import type { SpendView } from "@/components/spend/spend-view";
import { WhatChanged } from "@/components/spend/what-changed";
import { Link } from "@/components/ui/link";
import type { ActivityList, ActivityRow } from "@/lib/contract/spend/activity";
import type { Changes } from "@/lib/contract/spend/changes";
import type { Subject } from "@/lib/contract/spend/subjects";
import { type KeyLimit, SubjectLimits } from "./subject-limits";
import { dimensionsBeside, stackedBeside, subjectNames } from "./subject-names";

/**
 * The page of a project, a person, a key, a model, a feature or a tag: what it cost and how that differs, its spend over time, what
 * changed most, its budgets and limits, its breakdowns and its latest rows.
 */
export function SubjectPage({
  subject,
  view,
  changes,
  budgets,
  limit,
  latest,
  notes,
  path,
  params,
}: {
  subject: Subject;
  view: SpendView;
  /** Undefined if no day can be compared. */
  changes: Changes | undefined;
  budgets: Parameters<typeof SubjectLimits>[0]["budgets"];
  /** The monthly limit of a key; undefined for others. */
  limit?: KeyLimit | undefined;
  latest: ActivityList;
  /** The events marked above the bars of the chart. */
  notes: Parameters<typeof SpendOverTime>[0]["notes"];
  path: string;
  /** The parameters of the page's address. */
  params: SearchParams;
}) {
  const { workspace, filter } = view;
  const { dimension } = subject;
  const rows = activityHref(workspace, filter);
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-8">
      <SpendStats view={view} />
      <SpendOverTime
        view={view}
        dimensions={stackedBeside(dimension)}
        path={path}
        params={params}
        notes={notes}
      />
      {changes ? (
        <WhatChanged
          workspace={workspace}
          filter={{ environment: view.metrics.environment, [dimension]: subject.value }}
          changes={{
            ...changes,
            // Leaves out the list of people on a person's page, whose only change would be that of the whole page.
            ...(dimension === "user" && { people: [] }),
            ...(dimension === "key" && { keys: [] }),
          }}
        />
      ) : null}
      <SubjectLimits workspace={workspace} subject={subject} budgets={budgets} limit={limit} />
      <SpendBreakdowns view={view} dimensions={dimensionsBeside(dimension)} />
      <section aria-labelledby="latest-rows">
        <div className="flex flex-wrap items-baseline justify-between gap-3 pb-2">
          <h2 id="latest-rows" className="font-medium text-sm">
            Latest costs
          </h2>
          {latest.activity.length === 0 ? null : (
            <Link href={rows} prefetch={false} className="rounded-sm text-sm underline underline-offset-4">
              See all in activity
            </Link>
          )}
        </div>
        {latest.activity.length === 0 ? (
          <p className="text-muted-foreground text-sm">
            No cost of this {subjectNames[dimension].noun} was recorded in these days.
          </p>
        ) : (
          <LatestRows rows={latest.activity} hrefOf={(message) => hrefWith(rows, {}, { message })} />
        )}
      </section>
    </div>
  );
}

/** Some rows of activity, the latest first. Each links to its message. */
function LatestRows({ rows, hrefOf }: { rows: ActivityRow[]; hrefOf: (message: string) => string }) {
  return (
    <ul>
      {rows
        .map(toItem)
        .map(({ id, part, at, label, about, project, recordedBy, usd, hasNoPrice, isPartlyPriced }) => (
          <li key={`${id} ${part}`} className="flex items-baseline gap-x-4 border-t py-2 text-sm">
            <span className="min-w-0 flex-1">
              <Link
                href={hrefOf(id)}
                prefetch={false}
                dir="auto"
                className="block truncate rounded-sm text-left hover:underline"
              >
                {label}
              </Link>
              <span dir="auto" className="block truncate text-left text-muted-foreground text-xs">
                {[about, project, recordedBy].filter(Boolean).join(" · ")}
              </span>
            </span>
            <span className="whitespace-nowrap text-muted-foreground text-xs">
              <Time at={at} />
            </span>
            <span className="min-w-24 whitespace-nowrap text-right">
              {hasNoPrice && !isPartlyPriced ? "No price" : <Money usd={usd} />}
            </span>
          </li>
        ))}
    </ul>
  );
}
