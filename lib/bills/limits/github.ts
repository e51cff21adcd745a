import { z } from "zod";
import { type Ask, inDollars, optionalText, unlessMissing } from "@/lib/bills/pulls/provider";
import { ExactNumber } from "@/lib/contract/values/exact-number";
import { toText } from "@/lib/decimal";
import { type Limiter, type LimitPlace, type LimitTarget, listEach, noLimit, TargetGone } from "./limiter";

const version = { "X-GitHub-Api-Version": "2022-11-28" };
const pageSize = 100;

/** `…/budgets`: whole dollars of a month. */
const budgetPage = z.object({
  budgets: z.array(
    z.object({
      id: z.string(),
      budget_scope: z.string(),
      budget_entity_name: optionalText,
      user: optionalText,
      budget_amount: inDollars,
      prevent_further_usage: z.boolean(),
      budget_product_sku: z.string(),
    }),
  ),
});
type Budget = z.output<typeof budgetPage>["budgets"][number];
const seatPage = z.object({
  seats: z.array(z.object({ assignee: z.object({ login: z.string() }) })).default([]),
});

const repositoryPage = z.array(z.object({ full_name: z.string(), archived: z.boolean().default(false) }));

const budgetsPath = (account: string) =>
  `/organizations/${encodeURIComponent(account)}/settings/billing/budgets`;

/** Reads pages until one is not full. */
async function readPages<T>(read: (page: [string, string][]) => Promise<T[]>): Promise<T[]> {
  const all: T[] = [];
  for (let number = 1; ; number += 1) {
    const found = await read([
      ["per_page", String(pageSize)],
      ["page", String(number)],
    ]);
    all.push(...found);
    if (found.length < pageSize) return all;
  }
}

const isSame = (a: string | null | undefined, b: string) => a?.toLowerCase() === b.toLowerCase();

/** `budget_scope` of what is limited. */
const scopeOf = ({ kind }: LimitPlace) =>
  kind === "member" ? "user" : kind === "repository" ? "repository" : "organization";

/** The budget of AI credits of an organization, a member or a repository. */
async function find(ask: Ask, place: LimitPlace): Promise<Budget | undefined> {
  const { kind, id, account } = place;
  const scope = scopeOf(place);
  const budgets = await readPages(
    async (page) =>
      (await ask(budgetsPath(account), [...page, ["scope", scope]], budgetPage, version)).budgets,
  );
  return budgets.find(
    (each) =>
      each.budget_scope === scope &&
      each.budget_product_sku === "ai_credits" &&
      (kind === "organization" ||
        isSame(kind === "member" ? (each.user ?? each.budget_entity_name) : each.budget_entity_name, id)),
  );
}

const listMembers = async (ask: Ask, account: string): Promise<LimitTarget[]> => {
  const path = `/orgs/${encodeURIComponent(account)}/copilot/billing/seats`;
  const seats = await readPages(async (page) => (await ask(path, page, seatPage, version)).seats);
  return seats.map(({ assignee: { login } }) => ({ kind: "member", id: login, name: login, held: null }));
};

/** The repositories that are not archived, as `owner/name`. */
const listRepositories = async (ask: Ask, account: string): Promise<LimitTarget[]> => {
  const path = `/orgs/${encodeURIComponent(account)}/repos`;
  const all = await readPages((page) => ask(path, page, repositoryPage, version));
  return all
    .filter(({ archived }) => !archived)
    .map(({ full_name: name }) => ({ kind: "repository", id: name, name, held: null }));
};

/** Checks that GitHub still has a member or a repository. @throws TargetGone */
async function requireTarget(ask: Ask, { kind, id }: LimitPlace): Promise<void> {
  if (kind === "organization") return;
  const path =
    kind === "member"
      ? `/users/${encodeURIComponent(id)}`
      : `/repos/${id.split("/").map(encodeURIComponent).join("/")}`;
  const found = await unlessMissing(ask(path, [], z.looseObject({}), version));
  if (!found) throw new TargetGone(`GitHub has no ${kind === "member" ? "user" : "repository"} ${id}.`);
}

/** GitHub: budgets for the AI credits of an organization, a member or a repository, monthly, in whole dollars, which stop further use. */
export const github: Limiter = {
  list: async (ask, account) => [
    { kind: "organization", id: account, name: account, held: null },
    ...(await listEach([listMembers(ask, account), listRepositories(ask, account)])),
  ],
  read: async (ask, place) => {
    await requireTarget(ask, place);
    const found = await find(ask, place);
    const name = place.kind === "organization" ? place.account : place.id;
    return found
      ? { usd: found.budget_amount, period: "month", stops: found.prevent_further_usage, name }
      : { ...noLimit, name };
  },
  write: async (ask, place, amount) => {
    const found = await find(ask, place);
    const body = { budget_amount: new ExactNumber(toText(amount)), prevent_further_usage: true };
    const path = budgetsPath(place.account);
    if (found) {
      await ask(`${path}/${encodeURIComponent(found.id)}`, [], z.unknown(), version, body, "PATCH");
      return;
    }
    const of =
      place.kind === "member"
        ? { budget_scope: "user", user: place.id, budget_entity_name: place.id }
        : {
            budget_scope: scopeOf(place),
            budget_entity_name: place.kind === "repository" ? place.id : place.account,
          };
    const credits = { budget_type: "BundlePricing", budget_product_sku: "ai_credits" };
    await ask(path, [], z.unknown(), version, { ...body, ...of, ...credits });
  },
  remove: async (ask, place) => {
    const found = await find(ask, place);
    const path = `${budgetsPath(place.account)}/${encodeURIComponent(found?.id ?? "")}`;
    if (found) await unlessMissing(ask(path, [], z.unknown(), version, undefined, "DELETE"));
  },
};
