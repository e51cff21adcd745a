import { z } from "zod";
import { type Ask, inDollars, optionalText, unlessMissing } from "@/lib/bills/pulls/provider";
import { readByOffset } from "@/lib/bills/pulls/read-by-offset";
import type { LimitPeriod } from "@/lib/contract/bills/limit-kinds";
import { ExactNumber } from "@/lib/contract/values/exact-number";
import { toText } from "@/lib/decimal";
import { type HeldLimit, type Limiter, type LimitTarget, listEach, noLimit, TargetGone } from "./limiter";

const intervals: Record<LimitPeriod, string> = { day: "daily", week: "weekly", month: "monthly" };
const periodOf = (interval: string | null | undefined) =>
  Object.entries(intervals).find(([, name]) => name === interval)?.[0] ?? interval ?? "lifetime";

/** Limits are dollars, as JSON numbers. */
const key = z.object({
  hash: z.string(),
  name: z.string(),
  disabled: z.boolean().default(false),
  limit: inDollars.nullable(),
  limit_reset: optionalText,
});
const keyList = z.object({ data: z.array(key) });
const guardrail = z.object({
  id: z.string(),
  name: z.string(),
  limit_usd: inDollars.nullish(),
  reset_interval: optionalText,
});
const guardrailList = z.object({ data: z.array(guardrail) });
const workspace = z.object({ id: z.string(), name: z.string() });
const workspaceList = z.object({ data: z.array(workspace) });
const budgetList = z.object({
  data: z.array(z.object({ limit_usd: inDollars, reset_interval: z.string().nullable() })),
});

const keyPath = (hash: string) => `/api/v1/keys/${encodeURIComponent(hash)}`;
const workspacePath = (id: string) => `/api/v1/workspaces/${encodeURIComponent(id)}`;
const guardrailPath = (id: string) => `/api/v1/guardrails/${encodeURIComponent(id)}`;
const budgetPath = (id: string, period: LimitPeriod) => `${workspacePath(id)}/budgets/${intervals[period]}`;

const heldOfKey = ({ limit, limit_reset: reset }: z.output<typeof key>): HeldLimit =>
  limit === null ? noLimit : { usd: limit, period: periodOf(reset), stops: true };

const heldOfGuardrail = ({ limit_usd: usd, reset_interval: reset }: z.output<typeof guardrail>): HeldLimit =>
  usd ? { usd, period: periodOf(reset), stops: true } : noLimit;

const listWorkspaces = (ask: Ask) =>
  readByOffset((offset) => ask("/api/v1/workspaces", [["offset", offset]], workspaceList));

async function listKeys(ask: Ask): Promise<LimitTarget[]> {
  const workspaces = await unlessMissing(listWorkspaces(ask));
  const filters = workspaces?.map(({ id }): [string, string][] => [["workspace_id", id]]) ?? [[]];
  const keys: z.output<typeof key>[] = [];
  for (const filter of filters)
    keys.push(
      ...(await readByOffset((offset) => ask("/api/v1/keys", [["offset", offset], ...filter], keyList))),
    );
  return keys
    .filter(({ disabled }) => !disabled)
    .map((each) => ({ kind: "key", id: each.hash, name: each.name, held: heldOfKey(each) }));
}

async function listGuardrails(ask: Ask): Promise<LimitTarget[]> {
  const all = await readByOffset((offset) => ask("/api/v1/guardrails", [["offset", offset]], guardrailList));
  return all.map((each) => ({
    kind: "guardrail",
    id: each.id,
    name: each.name,
    held: heldOfGuardrail(each),
  }));
}

/** OpenRouter: limits of API keys and guardrails, and budgets of workspaces. */
export const openrouter: Limiter = {
  list: (ask) =>
    listEach([
      listKeys(ask),
      listWorkspaces(ask).then((all) =>
        all.map(({ id, name }) => ({ kind: "workspace" as const, id, name, held: null })),
      ),
      listGuardrails(ask),
    ]),
  read: async (ask, { kind, id, period }) => {
    if (kind === "key") {
      const found = await unlessMissing(ask(keyPath(id), [], z.object({ data: key })));
      if (!found) throw new TargetGone("OpenRouter has no such key.");
      return { ...heldOfKey(found.data), name: found.data.name };
    }
    if (kind === "guardrail") {
      const found = await unlessMissing(ask(guardrailPath(id), [], z.object({ data: guardrail })));
      if (!found) throw new TargetGone("OpenRouter has no such guardrail.");
      return { ...heldOfGuardrail(found.data), name: found.data.name };
    }
    const found = await unlessMissing(ask(workspacePath(id), [], z.object({ data: workspace })));
    if (!found) throw new TargetGone("OpenRouter has no such workspace.");
    const { data: budgets } = await ask(`${workspacePath(id)}/budgets`, [], budgetList);
    const held = budgets.find(({ reset_interval: reset }) => reset === intervals[period]);
    return { ...(held ? { usd: held.limit_usd, period, stops: true } : noLimit), name: found.data.name };
  },
  write: async (ask, { kind, id, period }, amount) => {
    const usd = new ExactNumber(toText(amount));
    const interval = intervals[period];
    if (kind === "key") {
      await ask(keyPath(id), [], z.unknown(), {}, { limit: usd, limit_reset: interval }, "PATCH");
    } else if (kind === "guardrail") {
      const limit = { limit_usd: usd, reset_interval: interval };
      await ask(guardrailPath(id), [], z.unknown(), {}, limit, "PATCH");
    } else await ask(budgetPath(id, period), [], z.unknown(), {}, { limit_usd: usd }, "PUT");
  },
  remove: async (ask, { kind, id, period }) => {
    const patch = (path: string, none: object) => ask(path, [], z.unknown(), {}, none, "PATCH");
    await unlessMissing(
      kind === "key"
        ? patch(keyPath(id), { limit: null, limit_reset: null })
        : kind === "guardrail"
          ? patch(guardrailPath(id), { limit_usd: null, reset_interval: null })
          : ask(budgetPath(id, period), [], z.unknown(), {}, undefined, "DELETE"),
    );
  },
};
