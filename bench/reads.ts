import { dimensions } from "@/lib/contract/spend/metrics";
import { usage } from "./ingest";
import { type Call, runLoad } from "./load";
import type { Part } from "./part";
import { atMost, type Figure } from "./report";
import { type ReadsStage, type ReadWorkspace, rowsAPage } from "./ten-million/stage";

/** Typical queries of Explore: by one dimension over time, and by two dimensions. */
const questions = {
  "explore: projects by day": { group_by: ["project", "day"] },
  "explore: models by week of a year": { group_by: ["model", "week"], from: yearAgo() },
  "explore: messages of people by month of a year": {
    group_by: ["user", "month"],
    measure: "messages",
    from: yearAgo(),
  },
  "explore: projects by model": { group_by: ["project", "model"] },
  "explore: features by key, but one model": {
    group_by: ["feature", "key"],
    filters: [{ field: "model", op: "is_not", values: ["gpt-4o-mini"] }],
  },
  "explore: a tag by month of a year": { group_by: ["tag:team", "month"], from: yearAgo() },
  "explore: a tag by week of a year": { group_by: ["tag:team", "week"], from: yearAgo() },
  "explore: sources by month of a year": { group_by: ["source", "month"], from: yearAgo() },
} as const;
type Question = keyof typeof questions;
const questionNames = Object.keys(questions) as Question[];

const views = [
  "month summary",
  "project spend",
  ...dimensions.map((dimension) => `metrics by ${dimension}` as const),
  "metrics of a model",
  ...questionNames,
  "activity, page 1",
  "activity, page 500",
  "activity, a search",
  "projects",
  "budgets",
  "budgets' status",
  "a key's limits",
  "alerts",
  "overview page",
  "projects page",
  "explore page",
  "activity page",
  "budgets page",
  "export of a month",
] as const;
type View = (typeof views)[number];
type Name = View | "beside ingest";

/** The CPU time of service and Postgres together that is not noticeable to a person, ms. */
const endpointMs = 30;
const pageMs = 60;
/** The 99th percentile of reads beside messages, ms. */
const p99Ms = 250;

/**
 * Measures the CPU time of each read, of service and Postgres together, in a workspace with millions of postings in three years; and
 * how long reads of all kinds take while messages are recorded. Other work on the machine delays a request, but adds little to its
 * CPU time.
 */
export function readsPart(
  { service, workspaces: { large }, ...reader }: ReadsStage,
  requests: number,
): Part<Name> {
  const short = views.filter((view) => view !== "export of a month");
  return {
    figures: figuresOf(large),
    contenders: [
      ...views.map((view) => ({
        name: view,
        server: service,
        count: countOf(view, requests),
        // Each user may have one export at a time.
        pace: { clients: view === "export of a month" ? 1 : 8 },
        call: () => callOf(view, large, reader),
      })),
      {
        name: "beside ingest" as const,
        server: service,
        count: requests / 20,
        pace: { perSecond: 10 },
        call: (index: number) => callOf(short[index % short.length] ?? "alerts", large, reader),
        meanwhile: () => recordMessages(service.baseUrl, large.key),
      },
    ],
  };
}

/** Records a hundred messages a second. @returns a function that ends it */
async function recordMessages(baseUrl: string, key: string): Promise<() => Promise<void>> {
  let isOver = false;
  const load = (async () => {
    while (!isOver) await runLoad(baseUrl, 50, (index) => usage(key, index), { perSecond: 100 });
  })();
  return async () => {
    isOver = true;
    await load;
  };
}

/** How often a view is read in a round. Reads of about a millisecond are repeated more often, because they are measured less exactly. */
function countOf(view: View, requests: number): number {
  if (view === "export of a month") return 1;
  const isShort = ["month summary", "budgets' status", "a key's limits", "alerts", "budgets"].includes(view);
  return isShort ? requests / 8 : requests / 40;
}

function callOf(
  view: View,
  { slug, key, cursor }: ReadWorkspace,
  { token, cookie, month }: Pick<ReadsStage, "token" | "cookie" | "month">,
): Call {
  const byKey = (path: string): Call => ({ method: "GET", path, secret: key });
  const byMember = (path: string): Call => ({
    method: "GET",
    path: `/api/v1/workspaces/${slug}/${path}`,
    secret: token,
  });
  switch (view) {
    case "month summary":
      return byKey("/api/v1/summary/month");
    case "project spend":
      return byKey("/api/v1/projects/project-1/spend");
    case "metrics of a model":
      return byMember("metrics?model=gpt-4o-mini");
    case "activity, page 1":
      return byMember(`activity?period=all&limit=${rowsAPage}`);
    case "activity, page 500":
      return byMember(`activity?period=all&limit=${rowsAPage}&cursor=${cursor}`);
    case "activity, a search":
      return byMember(`activity?period=all&limit=${rowsAPage}&q=nightly`);
    case "projects":
    case "alerts":
      return byMember(view);
    case "budgets' status":
      return byKey("/api/v1/budgets/status");
    case "a key's limits":
      return byKey("/api/v1/limits");
    case "overview page":
      return { method: "GET", path: `/${slug}`, headers: { cookie } };
    case "projects page":
    case "explore page":
    case "activity page":
    case "budgets page":
      return { method: "GET", path: `/${slug}/${view.replace(" page", "")}`, headers: { cookie } };
    case "budgets":
      return byMember("budgets");
    case "export of a month":
      return byMember(`export?period=range&from=${month.from}&to=${month.to}`);
    default:
      if (isQuestion(view))
        return { ...byMember("spend/query"), method: "POST", body: JSON.stringify(questions[view]) };
      return byMember(`metrics?group_by=${view.slice("metrics by ".length)}`);
  }
}

const isQuestion = (view: View): view is Question => view in questions;

/** The day a year ago, `YYYY-MM-DD`. */
function yearAgo(): string {
  return new Date(Date.now() - 364 * 86_400_000).toISOString().slice(0, 10);
}

function figuresOf({ exportedRows }: ReadWorkspace): Figure<Name>[] {
  return [
    ...views.map((view): Figure<Name> => {
      const isExport = view === "export of a month";
      return {
        name: isExport ? `${view}: a thousand rows` : view,
        unit: "ms",
        of: ({ [view]: { cpuMs, postgresCpuMs } }) =>
          (cpuMs + postgresCpuMs) / (isExport ? exportedRows / 1_000 : 1),
        target: atMost(view.endsWith("page") ? pageMs : endpointMs),
      };
    }),
    {
      name: "p99 of these beside ingest",
      unit: "ms",
      of: (round) => round["beside ingest"].p99Ms,
      target: atMost(p99Ms),
    },
  ];
}
