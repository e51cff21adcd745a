import type { z } from "zod";
import type { closedMonths } from "@/lib/contract/ledger/closed-months";
import type { KeyBudgetRequest } from "@/lib/contract/spend/budget-requests";
import type { budgetStatus, monthSummary, projectSpend } from "@/lib/contract/spend/reads";
import { ExactNumber } from "@/lib/contract/values/exact-number";
import { parseDecimal, shiftDecimal, subtract, toText } from "@/lib/decimal";
import type { ServiceError } from "@/lib/errors";
import { writeJson } from "@/lib/http/json";
import type { Recorded } from "@/lib/ledger/ingest/call";

type Amount = ExactNumber | number;

const textOf = (amount: Amount) => (amount instanceof ExactNumber ? amount.text : String(amount));

/** An amount with every digit, for models that read the text and not the JSON. */
export function usd(amount: Amount): string {
  const text = textOf(amount);
  return text.startsWith("-") ? `-$${text.slice(1)}` : `$${text}`;
}

const lines = (...parts: (string | string[] | false)[]) => parts.flat().filter(Boolean).join("\n");

/** The result of a recording as text. */
export function describeRecorded(project: string, { result, replayed }: Recorded): string {
  const how = {
    client: "as given",
    priced: "priced by the service",
    converted: "converted to USD",
    unpriced: "no price is known for it yet, so it counts as $0 until one is set",
    included: "a subscription covers it",
  }[result.cost_status];
  return lines(
    replayed
      ? `This was recorded before, and was not recorded again: ${usd(result.amount_usd)} in the project ${project} (${how}).`
      : `Recorded ${usd(result.amount_usd)} in the project ${project} (${how}).`,
    `Message ${result.id}, ${result.created_at}.`,
  );
}

/** A project's spend as text: totals, breakdowns, and one line for each of its latest records. */
export function describeProjectSpend(spend: z.output<typeof projectSpend>): string {
  const slices = (title: string, rows: [string | null, Amount][]) =>
    rows.length > 0
      ? [`${title}:`, ...rows.map(([name, amount]) => `- ${name ?? "(none)"}: ${usd(amount)}`)]
      : [];
  return lines(
    `${spend.project.name} (${spend.project.slug}) spent ${usd(spend.total_usd)} from ${spend.from} until ${spend.to}: usage ${usd(spend.usage_usd)}, subscriptions ${usd(spend.subscription_usd)}, expenses ${usd(spend.expense_usd)}${adjustments(spend)}; ${spend.message_count} records.`,
    spend.unpriced_count > 0 && unpriced(spend.unpriced_count),
    slices(
      "By model",
      spend.by_model.map((slice) => [slice.model as string | null, slice.total_usd as Amount]),
    ),
    slices(
      "By feature",
      spend.by_feature.map((slice) => [slice.feature as string | null, slice.total_usd as Amount]),
    ),
    slices(
      "By day",
      spend.daily.map(({ day, total_usd }) => [day, total_usd]),
    ),
    spend.rows.length > 0 && "Latest records (occurred, type, cost, of what):",
    spend.rows.map((row) => {
      const amount = row.quantity === null ? null : `${textOf(row.quantity)} ${row.unit_type ?? "units"}`;
      const what = [row.provider, row.model, amount, row.feature, row.label].filter(Boolean).join(", ");
      return `- ${row.occurred_at} ${row.message_type} ${usd(row.amount_usd)} ${what}`;
    }),
  );
}

/**
 * The budgets as text, one per line. Most urgent first: blocking budgets with nothing left, budgets that are used up, then those at
 * 80% or more or past a threshold.
 */
export function describeBudgets({ budgets, hidden_count: hidden }: z.output<typeof budgetStatus>): string {
  const others =
    hidden === 1
      ? "1 budget is hidden from this key, because it includes spend that the key may not read."
      : `${hidden} budgets are hidden from this key, because they include spend that the key may not read.`;
  if (budgets.length === 0)
    return hidden > 0 ? `No budget is visible to this key. ${others}` : "This workspace has no budgets.";
  const isUsedUp = ({ remaining }: (typeof budgets)[number]) => !(Number(textOf(remaining)) > 0);
  const named = (some: typeof budgets) => some.map(({ name }) => name).join(", ");
  const blocked = budgets.filter((budget) => budget.blocks && isUsedUp(budget));
  const over = budgets.filter((budget) => !budget.blocks && isUsedUp(budget));
  const isNear = ({ alert, reached }: (typeof budgets)[number]) =>
    alert || reached.percent.length + reached.usd.length > 0;
  const near = budgets.filter((budget) => isNear(budget) && !isUsedUp(budget));
  return lines(
    blocked.length > 0 && `Blocked, nothing more that costs anything can be recorded: ${named(blocked)}.`,
    over.length > 0 && `Used up: ${named(over)}.`,
    near.length > 0 && `Near the limit, or past a threshold: ${named(near)}.`,
    "Budgets:",
    budgets.map(
      ({ name, scope_type, amount, spent, remaining, percent_used, alert, blocks, warns, ...period }) =>
        `- ${name} (${scope_type}): ${usd(spent)} of ${usd(amount)} spent, ${usd(remaining)} left, ${percent(percent_used)}%, from ${period.period_from} until before ${period.period_until}, ${blocks ? "blocks" : "warns"}${receivers(warns)}${alert ? " — attention" : ""}`,
    ),
    hidden > 0 && others,
  );
}

/** A new budget request as text. */
export function describeBudgetRequest({ id, budget, amount, until }: KeyBudgetRequest): string {
  const limit = budget ? (budget.name ?? "the budget") : "this key's monthly limit";
  return `Asked for ${textOf(amount)} ${budget ? (budget.currency ?? "") : "USD"} more of ${limit} until ${until}. People decide; nothing is raised until then. The request is ${id}.`;
}

type Warned = z.output<typeof budgetStatus>["budgets"][number]["warns"];

/** The number of people and channels that a budget warns: " (2 people, 1 channel)"; empty if it names none. */
function receivers({ people, channels }: Warned): string {
  const named = [
    ...(people > 0 ? [people === 1 ? "1 person" : `${people} people`] : []),
    ...(channels > 0 ? [channels === 1 ? "1 channel" : `${channels} channels`] : []),
  ];
  return named.length > 0 ? ` (${named.join(", ")})` : "";
}

/** A fraction in percent with one decimal, rounded down: 99.97% is shown as 99.9%, and 79.96% as 79.9%. */
function percent(fraction: Amount): string {
  const [tenths] = toText(shiftDecimal(parseDecimal(textOf(fraction)), 3)).split(".");
  return (Number(tenths) / 10).toFixed(1);
}

/** The total of adjustments to bills as text; empty if there are none. */
const adjustments = ({ adjustment_usd: amount }: { adjustment_usd: Amount }) =>
  Number(String(amount)) === 0 ? "" : `, adjustments to bills ${usd(amount)}`;

/** The summary of a month as text. */
export function describeSummary(summary: z.output<typeof monthSummary>): string {
  const projects = Object.entries(summary.by_project);
  return lines(
    `This month has cost ${usd(summary.total_usd)} so far: usage ${usd(summary.usage_usd)}, subscriptions ${usd(summary.subscription_usd)}, expenses ${usd(summary.expense_usd)}${adjustments(summary)}; ${summary.message_count} records.`,
    summary.unpriced_count > 0 && unpriced(summary.unpriced_count),
    projects.length > 0 && "By project:",
    projects.map(([slug, amount]) => `- ${slug}: ${usd(amount)}`),
  );
}

/** The closed months as the text of a tool result. */
export function describeClosedMonths({ months }: z.output<typeof closedMonths>): string {
  const [last] = months;
  if (!last) return "No month is closed, as far as this key may see.";
  return lines(
    `Closed through ${last.month}. What is recorded of these months later is booked in an open month, as an adjustment.`,
    months.map(
      ({ month, amount_usd: amount, message_count: count }) => `- ${month}: ${usd(amount)}, ${count} records`,
    ),
  );
}

const unpriced = (count: number) =>
  `${count} of them have no known price yet and count as $0: the true cost is higher.`;

/** A refusal as text that a model can act on: what is wrong, what is left, what to do, and the error's fields as JSON. */
export function describeRefusal(error: ServiceError): string {
  // A tool's parameters are the fields of a message: `message.currency` is the parameter `currency`.
  const parameters = (path: string) => path.replace(/^(message|path|query)\./, "");
  const issues = (error.fields.issues ?? []) as { path: string; message: string }[];
  const { limit_usd: limit, spent_usd: spent, ...fields } = error.fields;
  const hasLimit = limit !== undefined && spent !== undefined;
  const remaining = hasLimit && new ExactNumber(left(limit as Amount, spent as Amount));
  const details = {
    error: error.code,
    ...fields,
    ...(hasLimit && { limit_usd: limit, spent_usd: spent, remaining_usd: remaining }),
    ...(issues.length > 0 && {
      issues: issues.map(({ path, message }) => ({ path: parameters(path), message })),
    }),
  };
  return lines(
    issues.length > 0
      ? issues.map(({ path, message }) => `${parameters(path)}: ${message}`)
      : [error.message, remaining ? `$${remaining.text} of it is left.` : "", adviceOf(error)],
    writeJson(details),
  );
}

function left(limit: Amount, spent: Amount): string {
  return toText(subtract(parseDecimal(textOf(limit)), parseDecimal(textOf(spent))));
}

function adviceOf({ code, fields }: ServiceError): string {
  if (code !== "permission_denied") return advice[code] ?? "";
  // The message of a refusal without `permission` already says what is missing.
  if (fields.permission === undefined) return "";
  return fields.permission === "manage_alerts"
    ? "API keys cannot have it: ask the user to connect this program by signing in, and to allow it."
    : "Ask the user for an API key that has it, or to add it to this one in the dashboard.";
}

/** What to do about a refusal, for errors whose message does not say. */
const advice: Partial<Record<ServiceError["code"], string>> = {
  budget_exceeded:
    "Tell the user. If they want more, ask with request_budget, the budget's id and a reason; people then decide.",
  monthly_limit_exceeded:
    "Tell the user. If they want more, ask as how_to_ask says: with request_budget, the key_id and a reason, where it names them; people then decide.",
  project_not_allowed: "Use a project that the key may use, or ask the user to allow this one for the key.",
  feature_not_allowed: "Use one of the allowed features, or ask the user to allow this one for the key.",
  user_not_allowed: "Ask the user for a key that may record for them.",
  source_not_allowed: "This key is not for agent tools: ask the user for one whose sources include mcp.",
  not_found:
    "Check the slug or id: get_monthly_summary lists the projects that have cost anything, get_budget_status the budgets, list_alerts the alerts.",
};
