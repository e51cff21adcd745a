import { z } from "zod";
import { type Ask, inCents, nextPage, optionalText, unlessMissing, usd } from "@/lib/bills/pulls/provider";
import type { LimitPeriod } from "@/lib/contract/bills/limit-kinds";
import { shiftDecimal, toText } from "@/lib/decimal";
import {
  type HeldLimit,
  type Limiter,
  type LimitPlace,
  type LimitTarget,
  listEach,
  noLimit,
  TargetGone,
} from "./limiter";

const reads = { "anthropic-beta": "spend-limit-reads-2026-09-26" };
const path = "/v1/organizations/spend_limits";
const periods: Record<LimitPeriod, string> = { day: "daily", week: "weekly", month: "monthly" };
const scopes = { organization: "organization", workspace: "workspace", member: "user" } as const;
type Scope = keyof typeof scopes;

/** Amounts are text of whole cents; null is no limit. */
const limitPage = z.object({
  data: z.array(
    z.object({
      id: z.string(),
      amount: inCents.nullable(),
      currency: usd,
      is_enabled: z.boolean().default(true),
      period: z.string(),
      scope: z.object({ type: z.string(), workspace_id: optionalText, user_id: optionalText }),
    }),
  ),
  has_more: z.boolean().default(false),
  next_page: optionalText,
});
type Limit = z.output<typeof limitPage>["data"][number];

const workspace = z.object({ id: z.string(), name: z.string(), archived_at: optionalText });
const member = z.object({ id: z.string(), name: optionalText, email: optionalText });
/** Lists of the organization's things, which continue behind the last id. */
const listOf = <T extends z.ZodType>(item: T) =>
  z.object({ data: z.array(item), has_more: z.boolean().default(false), last_id: optionalText });

async function readAll<T extends z.ZodType<{ id: string }>>(ask: Ask, of: string, item: T) {
  const all: z.output<T>[] = [];
  for (let after: string | undefined; ; ) {
    const query: [string, string][] = [["limit", "100"]];
    if (after !== undefined) query.push(["after_id", after]);
    const page = await ask(of, query, listOf(item));
    all.push(...page.data);
    after = page.last_id ?? page.data.at(-1)?.id;
    if (!page.has_more || after === undefined) return all;
  }
}

const scopeOf = ({ kind, id }: LimitPlace) => ({
  type: scopes[kind as Scope],
  ...(kind === "workspace" && { workspace_id: id }),
  ...(kind === "member" && { user_id: id }),
});

/** The limit of a place and period. */
async function find(ask: Ask, place: LimitPlace): Promise<Limit | undefined> {
  const scope = scopeOf(place);
  for (let page: string | undefined; ; ) {
    const query: [string, string][] = [["scope_type[]", scope.type]];
    if (scope.workspace_id !== undefined) query.push(["workspace_id", scope.workspace_id]);
    if (page !== undefined) query.push(["page", page]);
    const answer = await ask(path, query, limitPage, reads);
    const found = answer.data.find(
      ({ scope: of, period }) =>
        of.type === scope.type &&
        period === periods[place.period] &&
        (scope.workspace_id === undefined || of.workspace_id === scope.workspace_id) &&
        (scope.user_id === undefined || of.user_id === scope.user_id),
    );
    page = nextPage(answer);
    if (found || page === undefined) return found;
  }
}

const toHeld = (found: Limit | undefined, period: LimitPeriod): HeldLimit =>
  found && found.amount !== null ? { usd: found.amount, period, stops: found.is_enabled } : noLimit;

const workspacesPath = "/v1/organizations/workspaces";
const membersPath = "/v1/organizations/users";
const nameOfMember = ({ name, email, id }: z.output<typeof member>) => email || name || id;

async function nameOf(ask: Ask, { kind, id }: LimitPlace): Promise<string> {
  if (kind === "organization") return "The whole organization";
  if (kind === "member") {
    const found = await unlessMissing(ask(`${membersPath}/${encodeURIComponent(id)}`, [], member));
    if (!found) throw new TargetGone("Anthropic has no such member.");
    return nameOfMember(found);
  }
  const found = await unlessMissing(ask(`${workspacesPath}/${encodeURIComponent(id)}`, [], workspace));
  if (!found) throw new TargetGone("Anthropic has no such workspace.");
  if (found.archived_at) throw new TargetGone(`The workspace ${found.name} is archived at Anthropic.`);
  return found.name;
}

const ofConsole: LimitTarget = {
  ...{ kind: "organization", id: "organization", name: "The whole organization", held: null },
};

/** Anthropic: monthly limits of workspaces and the organization (Claude Console), and of members (Claude Enterprise), in whole cents. */
export const anthropic: Limiter = {
  list: (ask, _account, period) =>
    listEach([
      ...(period === "month"
        ? [
            readAll(ask, workspacesPath, workspace).then((all): LimitTarget[] => [
              ...all
                .filter(({ archived_at: archived }) => !archived)
                .map(({ id, name }) => ({ kind: "workspace" as const, id, name, held: null })),
              ofConsole,
            ]),
          ]
        : []),
      readAll(ask, membersPath, member).then((all): LimitTarget[] =>
        all.map((each) => ({ kind: "member", id: each.id, name: nameOfMember(each), held: null })),
      ),
    ]),
  read: async (ask, place) => {
    const name = await nameOf(ask, place);
    return { ...toHeld(await find(ask, place), place.period), name };
  },
  write: async (ask, place, amount) => {
    const body = {
      amount: toText(shiftDecimal(amount, 2)),
      scope: scopeOf(place),
      period: periods[place.period],
    };
    await ask(path, [], z.unknown(), {}, body);
  },
  remove: async (ask, place) => {
    const found = await find(ask, place);
    if (found)
      await unlessMissing(
        ask(`${path}/${encodeURIComponent(found.id)}`, [], z.unknown(), {}, undefined, "DELETE"),
      );
  },
};
