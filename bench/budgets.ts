import type { Fixtures } from "@/tests/helpers/keys";
import { usage } from "./ingest";
import type { Part } from "./part";
import { atMost, type Figure, type Round } from "./report";
import type { Stage } from "./stage";

type Name = "no budgets" | "50 budgets" | "50 budgets, 10 of them block";

/**
 * The scopes of 50 budgets as a team may set them: all spend by month and by day, each project, each feature, and some providers,
 * models, tags and people. Six of the budgets count a message of `usage`.
 */
const scopes: [type: string, value: string | null][] = [
  ["global", null],
  ["global", null],
  ...Array.from({ length: 20 }, (_, index): [string, string] => ["project", `project-${index}`]),
  ...Array.from({ length: 8 }, (_, index): [string, string] => ["feature", `feature-${index}`]),
  ...["openai", "anthropic", "google", "mistral", "vercel"].map((name): [string, string] => [
    "provider",
    name,
  ]),
  ...["gpt-4o", "gpt-5", "claude", "gemini", "mistral"].map((name): [string, string] => ["model", name]),
  ...["growth", "sales", "core", "data", "web"].map((name): [string, string] => ["tag", `team:${name}`]),
  ...["anna", "ben", "cleo", "dan", "eve"].map((name): [string, string] => ["user", name]),
];

const periods = ["month", "day", "week", "quarter", "year"];

/** Sets 50 budgets with two thresholds each, which no load of the bench reaches. @param blocking how many of them block */
async function setBudgets(fixtures: Fixtures, workspace: string, blocking: number): Promise<void> {
  for (const [index, [type, value]] of scopes.entries()) {
    const stored = type === "project" && value !== null ? await fixtures.project(workspace, value) : value;
    await fixtures.sql.query(
      `insert into public.budgets
         (workspace_id, name, scope_type, scope_value, amount, period, time_zone, alert_percents, blocks)
       values ($1, $2, $3, $4, 1000000000, $5, $6, '{80,100}', $7)`,
      [
        workspace,
        `Budget ${index}`,
        type,
        stored,
        periods[index % periods.length],
        index % 2 === 0 ? "UTC" : "Europe/Berlin",
        index % 5 === 0 && index / 5 < blocking,
      ],
    );
  }
}

/** Measures what budgets add to the cost of a message: the same messages in workspaces with and without them. */
export async function budgetsPart({ fast, addKeys }: Stage, requests: number): Promise<Part<Name>> {
  const keys: Record<Name, string[]> = {
    "no budgets": await addKeys(50),
    "50 budgets": await addKeys(50, (fixtures, workspace) => setBudgets(fixtures, workspace, 0)),
    "50 budgets, 10 of them block": await addKeys(50, (fixtures, workspace) =>
      setBudgets(fixtures, workspace, 10),
    ),
  };
  const names = Object.keys(keys) as Name[];
  return {
    figures,
    contenders: names.map((name) => ({
      name,
      server: fast,
      count: requests,
      call: (index) => usage(keys[name][index % keys[name].length] ?? "", index),
    })),
  };
}

/** The CPU time of a message in the service and in Postgres together, in ms. */
const both = (name: Name) => (round: Round<Name>) => round[name].cpuMs + round[name].postgresCpuMs;

const more = (name: Name) => (round: Round<Name>) =>
  100 * (both(name)(round) / both("no budgets")(round) - 1);

const figures: Figure<Name>[] = [
  { name: "message without budgets: CPU of service + Postgres", unit: "ms", of: both("no budgets") },
  { name: "message with 50 budgets: CPU of service + Postgres", unit: "ms", of: both("50 budgets") },
  {
    name: "50 budgets with 100 thresholds: more CPU of service + Postgres",
    unit: "%",
    of: more("50 budgets"),
    target: atMost(5),
  },
  {
    name: "50 budgets, 10 of them block: more CPU of service + Postgres",
    unit: "%",
    of: more("50 budgets, 10 of them block"),
  },
];
