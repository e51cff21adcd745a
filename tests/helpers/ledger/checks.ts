import { expect } from "vitest";
import type { Fixtures } from "@/tests/helpers/keys";
import { dividedBy, type Exact, exact, show, total } from "./exact";
import type { Entry, LedgerModel } from "./model";
import { plain } from "./play";
import { environmentOf, type KeyName, mayTouch } from "./requests";
import { budgets, type SequenceWorkspace } from "./workspace";

const amountOf = (entries: Entry[]) => show(total(entries.map(({ amount }) => amount)));
const ofTypes = (entries: Entry[], ...types: Entry["type"][]) =>
  amountOf(entries.filter(({ type }) => types.includes(type)));
const count = (entries: Entry[], what: "counts" | "unpriced") =>
  String(entries.reduce((sum, entry) => sum + entry[what], 0));

/** The four totals and two counts that summaries and project spend have in common. */
const headline = (entries: Entry[]) => ({
  total_usd: amountOf(entries),
  usage_usd: ofTypes(entries, "usage", "batch", "allocation"),
  subscription_usd: ofTypes(entries, "subscription"),
  expense_usd: ofTypes(entries, "expense"),
  message_count: count(entries, "counts"),
  unpriced_count: count(entries, "unpriced"),
});

function headlineOf(body: Record<string, unknown>) {
  const { message_count, unpriced_count } = body;
  const amounts = ["total_usd", "usage_usd", "subscription_usd", "expense_usd"];
  return {
    ...Object.fromEntries(amounts.map((name) => [name, plain(body[name])])),
    message_count,
    unpriced_count,
  };
}

/** The totals of a dimension's values as text; entries without a value are under "null". */
function slices(entries: Entry[], by: (entry: Entry) => string | null): Record<string, string> {
  const sums = new Map<string, Exact>();
  for (const entry of entries) {
    const name = String(by(entry));
    sums.set(name, (sums.get(name) ?? 0n) + entry.amount);
  }
  return Object.fromEntries([...sums].map(([name, sum]) => [name, show(sum)]));
}

/** A list of slices as the API returns it. @throws Error where a value occurs twice */
function slicesOf(list: unknown, name: string): Record<string, unknown> {
  const rows = list as Record<string, unknown>[];
  const found = Object.fromEntries(rows.map((row) => [String(row[name]), plain(row.total_usd)]));
  expect(Object.keys(found), `${name} is listed once`).toHaveLength(rows.length);
  return found;
}

/** The first instant of this UTC month and of the next. */
function thisMonth(now: number): [from: number, to: number] {
  const date = new Date(now);
  const start = (ahead: number) => Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + ahead, 1);
  return [start(0), start(1)];
}

/** Checks a key's month summary against the model's entries. */
export async function checkSummary(
  workspace: SequenceWorkspace,
  model: LedgerModel,
  key: KeyName,
  now: number,
) {
  const entries = model.seen(key, ...thisMonth(now));
  const { body } = await workspace.clients[key].get("/api/v1/summary/month");
  const byProject = slices(entries, ({ project }) => project);
  const included = show(total(entries.map((entry) => entry.included)));
  const shown = Object.entries(body.by_project as object).map(([slug, sum]) => [slug, plain(sum)]);
  const [top] = Object.entries(byProject).sort(([slugA, a], [slugB, b]) => {
    const difference = exact(b) - exact(a);
    return difference === 0n ? (slugA < slugB ? -1 : 1) : difference > 0n ? 1 : -1;
  });
  expect(
    {
      ...headlineOf(body),
      by_project: Object.fromEntries(shown),
      included_usd: plain(body.included_usd),
      top: (body.top_project as { slug: string } | null)?.slug,
    },
    `the summary of ${key}`,
  ).toEqual({ ...headline(entries), by_project: byProject, included_usd: included, top: top?.[0] });
}

/** The state of every budget, for both environments. */
export async function checkBudgets(
  workspace: SequenceWorkspace,
  model: LedgerModel,
  key: KeyName,
  now: number,
) {
  const entries = model.seen(key, ...thisMonth(now));
  const within = {
    global: () => true,
    project: ({ project }: Entry, value: string | null) => project === value,
    feature: ({ feature }: Entry, value: string | null) => feature === value,
    provider: ({ provider }: Entry, value: string | null) => provider?.toLowerCase() === value,
    key: (entry: Entry, value: string | null) => entry.key === value,
  };
  const { body } = await workspace.clients[key].get("/api/v1/budgets/status");
  const wanted = budgets.map(([name, scope, value, text]) => {
    const amount = exact(text);
    const spent = total(entries.filter((entry) => within[scope](entry, value)).map((entry) => entry.amount));
    const figures = { amount, spent, remaining: amount - spent, percent_used: dividedBy(spent, amount) };
    const shown = Object.entries(figures).map(([figure, of]) => [figure, show(of)]);
    return { name, scope_type: scope, ...Object.fromEntries(shown), alert: spent * 10n >= amount * 8n };
  });
  const figures = ["amount", "spent", "remaining", "percent_used"];
  const seen = (body.budgets as Record<string, unknown>[]).map(({ name, scope_type, alert, ...row }) => ({
    name,
    scope_type,
    ...Object.fromEntries(figures.map((figure) => [figure, plain(row[figure])])),
    alert,
  }));
  const byName = (a: { name?: unknown }, b: { name?: unknown }) => (String(a.name) < String(b.name) ? -1 : 1);
  expect(seen.sort(byName), `budgets of ${key}`).toEqual(wanted.sort(byName));
}

/** Checks what a project spent between two times (by default this month): total, days, models, features and rows agree. */
export async function checkSpend(
  workspace: SequenceWorkspace,
  model: LedgerModel,
  key: KeyName,
  project: string,
  now: number,
  range?: { from: string; to: string },
) {
  const query = range ? `?${new URLSearchParams(range)}` : "";
  const { status, body } = await workspace.clients[key].get(`/api/v1/projects/${project}/spend${query}`);
  const what = `${key}'s ${project}${query}`;
  if (!model.projects.has(project) || !mayTouch(key, project)) {
    expect([status, body.error], what).toEqual([404, "not_found"]);
    return;
  }
  const [from, to] = range ? [Date.parse(range.from), Date.parse(range.to)] : thisMonth(now);
  const entries = model.seen(key, from, to).filter((entry) => entry.project === project);
  expect(
    {
      ...headlineOf(body),
      by_model: slicesOf(body.by_model, "model"),
      by_feature: slicesOf(body.by_feature, "feature"),
      daily: slicesOf(body.daily, "day"),
    },
    what,
  ).toEqual({
    ...headline(entries),
    by_model: slices(entries, (entry) => entry.model),
    by_feature: slices(entries, (entry) => entry.feature),
    daily: slices(entries, ({ at }) => new Date(at).toISOString().slice(0, 10)),
  });
  const rows = body.rows as { amount_usd: string }[];
  if (rows.length < 200)
    expect(show(total(rows.map((row) => exact(row.amount_usd)))), what).toBe(amountOf(entries));
}

/** Checks that the sum of the messages in the database, by environment, equals the model's. */
export async function checkStored({ sql }: Fixtures, workspace: SequenceWorkspace, model: LedgerModel) {
  const { rows } = await sql.query(
    `select environment, sum(amount_usd)::text as amount, count(*) filter (where part = 0)::text as messages
     from public.messages where workspace_id = $1 group by environment`,
    [workspace.id],
  );
  const stored = rows.map(({ environment, amount, messages }) => [environment, [plain(amount), messages]]);
  const wanted = (["full", "trial"] as const).flatMap((key) => {
    const entries = model.seen(key, Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY);
    return entries.length === 0 ? [] : [[environmentOf(key), [amountOf(entries), count(entries, "counts")]]];
  });
  expect(Object.fromEntries(stored)).toEqual(Object.fromEntries(wanted));
}
