import { SearchX } from "lucide-react";
import type { Metadata } from "next";
import { Suspense } from "react";
import { HistorySentence } from "@/components/bills/history-sentence";
import { toExploreData, withHistory } from "@/components/explore/data";
import { ExploreControls } from "@/components/explore/explore-controls";
import { ExploreSkeleton } from "@/components/explore/explore-skeleton";
import { ExploreView } from "@/components/explore/explore-view";
import { EarlierCosts, NotCompared } from "@/components/explore/left-out";
import { SavedViews } from "@/components/explore/saved-views";
import {
  canHaveHistory,
  exploreHref,
  parameterOf,
  problemOf,
  readState,
  tagsOf,
  toQuery,
  writeState,
} from "@/components/explore/state";
import { addDays } from "@/components/figures/utc-day";
import type { SearchParams } from "@/components/filters/href";
import type { PageRange } from "@/components/filters/range";
import { RangePicker } from "@/components/filters/range-picker";
import { RangeProblem } from "@/components/filters/range-problem";
import { PageHeader } from "@/components/shell/page-header";
import { AddSourceLink } from "@/components/sources/add-source-link";
import { buttonVariants } from "@/components/ui/button";
import { EmptyState } from "@/components/ui/empty-state";
import { Link } from "@/components/ui/link";
import {
  daysWithin,
  firstDayOf,
  rangeOfAnswer,
  readHistoryOfQuery,
  toHistory,
} from "@/lib/bills/explore-history";
import type { RangeQuery } from "@/lib/contract/spend/ledger-query";
import { maxSpendDays, spendQuery } from "@/lib/contract/spend/spend-query";
import { explainIssue } from "@/lib/contract/values/parse-part";
import { ServiceError } from "@/lib/errors";
import { isRefusal, readExplore } from "@/lib/spend/views/explore";
import { requireWorkspace } from "../membership";
import { clockNow, readPageRange, readRememberedRange } from "../page-range";
import { readRememberedViews } from "../remembered-views";

export const metadata: Metadata = { title: "Explore" };

type Props = { params: Promise<{ workspace: string }>; searchParams: Promise<SearchParams> };

/** Spend by any two dimensions. States: an answer, nothing recorded, a query that is refused, and an invalid address. */
export default async function ExplorePage({ params, searchParams }: Props) {
  const { workspace } = await requireWorkspace((await params).workspace);
  const search = await searchParams;
  const shown = readPageRange(search, await readRememberedRange(), clockNow(workspace));
  const path = `/${workspace.slug}/explore`;
  return (
    <>
      <PageHeader
        title="Explore"
        actions={<RangePicker path={path} params={shown.params} range={shown.range} />}
      />
      <RangeProblem problem={shown.problem} />
      <Suspense fallback={<ExploreSkeleton />}>
        <Explore slug={workspace.slug} search={shown.params} shown={shown} />
      </Suspense>
    </>
  );
}

async function Explore({
  slug,
  search,
  shown: { query: days, range },
}: {
  slug: string;
  search: SearchParams;
  shown: { query: RangeQuery; range: PageRange };
}) {
  const { claims, user, workspace, reader } = await requireWorkspace(slug);
  const state = readState(search);
  const query = spendQuery.safeParse({
    ...toQuery(state, daysOf(range)),
    ...(reader.display && { currency: reader.display.currency }),
  });
  const [issue] = query.error?.issues ?? [];
  const problem = problemOf(search) ?? (issue && `${parameterOf(issue.path, state)} ${explainIssue(issue)}`);
  if (problem !== undefined || !query.success)
    return <Refused slug={slug} title="This address is not valid" problem={problem ?? ""} />;
  const hasHistory = canHaveHistory(state);
  // The days of all time begin with it, so it is read before them.
  const ofAllTime =
    query.data.from === undefined && hasHistory
      ? await readHistoryOfQuery(claims, slug, query.data)
      : undefined;
  const earliest = ofAllTime && state.history !== "off" ? firstDayOf(ofAllTime) : undefined;
  const read = await readExplore(claims, slug, query.data, days, earliest).catch((error: unknown) => {
    if (isRefusal(error)) return error;
    throw error;
  });
  if (read instanceof ServiceError)
    return (
      <>
        <ExploreControls workspace={slug} state={state} range={longestDaysOf(range)} tags={tagsOf(state)} />
        <Refused
          slug={slug}
          title="This query is too broad"
          problem={read.message.replace(/^group_by: /, "This ")}
        />
      </>
    );
  const { answer, comparison, first, views, tags, projectOrder } = read;
  const isCompared = comparison !== null && !(comparison instanceof ServiceError);
  const recorded = toExploreData(answer, isCompared ? comparison : null, projectOrder);
  const stretch = isCompared ? comparison.stretch : null;
  const daysShown = rangeOfAnswer(answer, stretch);
  const historyDays = hasHistory
    ? ofAllTime
      ? daysWithin(ofAllTime, daysShown)
      : await readHistoryOfQuery(claims, slug, query.data, daysShown)
    : undefined;
  const history = historyDays && toHistory(historyDays, answer, { stretch, choice: state.history });
  const data = history?.isCounted ? withHistory(recorded, history) : recorded;
  return (
    <>
      <ExploreControls
        workspace={slug}
        state={state}
        range={{ from: answer.from, to: answer.to }}
        tags={tags}
      >
        <SavedViews
          workspace={slug}
          views={views}
          query={writeState(state)}
          canShare={workspace.role !== "viewer"}
        />
      </ExploreControls>
      {first !== undefined && first < answer.from ? (
        <EarlierCosts workspace={slug} state={state} first={first} from={answer.from} />
      ) : null}
      {comparison instanceof ServiceError && range.previous ? (
        <NotCompared days={range.previous} reason={comparison.message} />
      ) : null}
      {history ? (
        <div className="mb-6">
          <HistorySentence
            {...history}
            href={exploreHref(slug, { ...state, history: history.isCounted ? "off" : "on" })}
          />
        </div>
      ) : null}
      {data.cells.length === 0 ? (
        <EmptyState
          icon={<SearchX />}
          title="Nothing was recorded for this"
          action={first === undefined ? <AddSourceLink workspace={workspace} /> : null}
        >
          {first === undefined
            ? "No cost is recorded in this workspace yet."
            : "Choose other days, or remove a filter."}
        </EmptyState>
      ) : (
        <ExploreView
          key={writeState({ ...state, hidden: [] })}
          workspace={slug}
          state={state}
          data={data}
          today={range.today}
          views={await readRememberedViews(user.id)}
        />
      )}
    </>
  );
}

function Refused({ slug, title, problem }: { slug: string; title: string; problem: string }) {
  return (
    <EmptyState
      icon={<SearchX />}
      title={title}
      action={
        <Link href={`/${slug}/explore?period=month`} className={buttonVariants({ variant: "outline" })}>
          Show this month
        </Link>
      }
    >
      {problem}
    </EmptyState>
  );
}

/** The days of a range up to today, unless it begins later. For all time, the days up to today, without a first one. */
export function daysOf({ from, to, today }: PageRange): { from: string | undefined; to: string } {
  const last = to === null || (to > today && (from ?? "") <= today) ? today : to;
  return { from: from ?? undefined, to: last };
}

/** Like `daysOf`, but for all time as many days as a query may cover. */
function longestDaysOf(range: PageRange): { from: string; to: string } {
  const { from, to } = daysOf(range);
  return { from: from ?? addDays(to, 1 - maxSpendDays), to };
}
