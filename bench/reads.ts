import { dimensions } from "@/lib/contract/metrics";
import type { Call } from "./load";
import type { Part } from "./part";
import { atMost, type Figure, type Round } from "./report";
import { type ReadsStage, type ReadWorkspace, rowsAPage } from "./ten-million/stage";

/** Five questions that teams ask of Explore: one dimension and the calendar, and two dimensions. */
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
  "export of a month",
] as const;
const sizes = ["small", "large"] as const;
type View = (typeof views)[number];
type Name = `${View}, ${(typeof sizes)[number]}`;

/**
 * Measures each read in a workspace with millions of postings in three years and in one with ten thousand, in the last two
 * months: the same names are in use, so only the number of messages differs. The figures are ratios of CPU time, of service and Postgres together, in interleaved rounds: other work on the
 * machine delays a request, but adds little to its CPU time.
 */
export function readsPart({ service, workspaces, ...reader }: ReadsStage, requests: number): Part<Name> {
  return {
    figures: figuresOf(workspaces),
    contenders: views.flatMap((view) =>
      sizes.map((size) => ({
        name: `${view}, ${size}` as const,
        server: service,
        count: countOf(view, requests),
        // Each user may have one export at a time.
        pace: { clients: view === "export of a month" ? 1 : 8 },
        call: () => callOf(view, workspaces[size], reader),
      })),
    ),
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

const serverMs = (name: Name) => (round: Round<Name>) => round[name].cpuMs + round[name].postgresCpuMs;

function figuresOf(workspaces: ReadsStage["workspaces"]): Figure<Name>[] {
  return views.flatMap((view): Figure<Name>[] => {
    const isExport = view === "export of a month";
    const msOf = (size: "small" | "large") => (round: Round<Name>) =>
      serverMs(`${view}, ${size}`)(round) / (isExport ? workspaces[size].exportedRows : 1);
    return [
      ...sizes.map((size) => ({
        name: `${view}, ${size} workspace: CPU${isExport ? " a row" : ""}`,
        unit: "ms" as const,
        of: msOf(size),
      })),
      {
        name: `${view}: large to small${isExport ? ", a row" : ""}`,
        unit: "×",
        of: (round) => msOf("large")(round) / msOf("small")(round),
        // Filtered metrics read the rollup, which grows with the combinations of names. They have no target.
        ...(view !== "metrics of a model" && {
          target: atMost(isQuestion(view) ? 2 : 1.5),
        }),
      },
    ];
  });
}
