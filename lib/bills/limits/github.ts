import { z } from "zod";
import { type Ask, inDollars, optionalText } from "@/lib/bills/pulls/provider";
import { ExactNumber } from "@/lib/contract/values/exact-number";
import { toText } from "@/lib/decimal";
import {
  type Limiter,
  type LimitPlace,
  type LimitTarget,
  listEach,
  noLimit,
  TargetGone,
  unlessMissing,
} from "./limiter";

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

/** The budget of AI credits of an organization or a member. */
async function find(ask: Ask, { kind, id, account }: LimitPlace): Promise<Budget | undefined> {
  const scope = kind === "member" ? "user" : "organization";
  const budgets = await readPages(
    async (page) =>
      (await ask(budgetsPath(account), [...page, ["scope", scope]], budgetPage, version)).budgets,
  );
  return budgets.find(
    (each) =>
      each.budget_scope === scope &&
      each.budget_product_sku === "ai_credits" &&
      (kind === "organization" || isSame(each.user ?? each.budget_entity_name, id)),
  );
}

const listMembers = async (ask: Ask, account: string): Promise<LimitTarget[]> => {
  const path = `/orgs/${encodeURIComponent(account)}/copilot/billing/seats`;
  const seats = await readPages(async (page) => (await ask(path, page, seatPage, version)).seats);
  return seats.map(({ assignee: { login } }) => ({ kind: "member", id: login, name: login, held: null }));
};

/** GitHub: budgets for the AI credits of an organization or a member, monthly, in whole dollars, which stop further use. */
export const github: Limiter = {
  list: async (ask, account) => [
    { kind: "organization", id: account, name: account, held: null },
    ...(await listEach([listMembers(ask, account)])),
  ],
  read: async (ask, place) => {
    if (place.kind === "member") {
      const user = await unlessMissing(
        ask(`/users/${encodeURIComponent(place.id)}`, [], z.object({ login: z.string() }), version),
      );
      if (!user) throw new TargetGone(`GitHub has no user ${place.id}.`);
    }
    const found = await find(ask, place);
    const name = place.kind === "member" ? place.id : place.account;
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
        : { budget_scope: "organization", budget_entity_name: place.account };
    const credits = { budget_type: "BundlePricing", budget_product_sku: "ai_credits" };
    await ask(path, [], z.unknown(), version, { ...body, ...of, ...credits });
  },
  remove: async (ask, place) => {
    const found = await find(ask, place);
    const path = `${budgetsPath(place.account)}/${encodeURIComponent(found?.id ?? "")}`;
    if (found) await unlessMissing(ask(path, [], z.unknown(), version, undefined, "DELETE"));
  },
};
