import {
  type Endpoint,
  type Endpoints,
  nameOf,
  now,
  ok,
  oneOf,
  periodNames,
  thingsOf,
  writing,
} from "./limit-endpoint";
import type { Held, Thing } from "./limits";
import { type Answer, type Asked, number } from "./organization";

// OpenRouter: dollars as JSON numbers.

const openrouterError = (message: string, status = 403): Answer => ({
  status,
  body: { error: { code: status, message } },
});
const openrouterKey =
  ({ organization: { limits } }: Asked) =>
  ({ id, name }: Thing) => {
    const held = limits.find("key", id);
    const [none, usage] = [null, 0];
    return {
      ...{ hash: id, name, label: "sk-or-v1-abc...def", disabled: false, workspace_id: "ws_1" },
      ...{ limit: held ? number(held.usd) : null, limit_reset: held ? nameOf(held.period) : null },
      ...{ limit_remaining: none, include_byok_in_limit: false, creator_user_id: none, external_user: none },
      ...{ usage, usage_daily: usage, usage_weekly: usage, usage_monthly: usage },
      ...{ byok_usage: usage, byok_usage_daily: usage, byok_usage_weekly: usage, byok_usage_monthly: usage },
      ...{ created_at: now(), updated_at: none },
    };
  };
const openrouterSetKey: Endpoint = (asked, id = "") => {
  const { limits } = asked.organization;
  const thing = thingsOf(asked, "key").find((each) => each.id === id);
  if (!thing) return openrouterError("API key not found", 404);
  const { limit, limit_reset: reset } = asked.body;
  if (limit === null) limits.unset(limits.find("key", id));
  else limits.set("key", id, String(limit), periodNames[reset] ?? "lifetime");
  return ok({ data: openrouterKey(asked)(thing) });
};
const openrouterGuardrail =
  ({ organization: { limits } }: Asked) =>
  ({ id, name }: Thing) => {
    const held = limits.find("guardrail", id);
    return {
      ...{ id, name, description: null, workspace_id: "ws_1", created_at: now(), updated_at: null },
      ...{ limit_usd: held ? number(held.usd) : null, reset_interval: held ? nameOf(held.period) : null },
      ...{ allowed_models: null, allowed_providers: null, include_byok_in_budgets: false },
    };
  };
const openrouterSetGuardrail: Endpoint = (asked, id = "") => {
  const { limits } = asked.organization;
  const thing = thingsOf(asked, "guardrail").find((each) => each.id === id);
  if (!thing) return openrouterError("Guardrail not found", 404);
  const { limit_usd: limit, reset_interval: interval } = asked.body;
  if (limit === null) limits.unset(limits.find("guardrail", id));
  else limits.set("guardrail", id, String(limit), periodNames[interval] ?? "lifetime");
  return ok({ data: openrouterGuardrail(asked)(thing) });
};
const openrouterBudget = (held: Held) => ({
  ...{
    id: held.id,
    workspace_id: held.target,
    limit_usd: number(held.usd),
    created_at: now(),
    updated_at: now(),
  },
  reset_interval: nameOf(held.period),
});
const openrouterWorkspace = ({ id, name, broadcasts = false }: Thing) => ({
  ...{ id, name, slug: name, description: null, created_at: now(), updated_at: null, created_by: null },
  ...{
    default_guardrail_id: "g",
    default_image_model: null,
    default_provider_sort: null,
    default_text_model: null,
  },
  ...{ io_logging_api_key_ids: null, io_logging_sampling_rate: 1, is_data_discount_logging_enabled: false },
  ...{ is_observability_broadcast_enabled: broadcasts, is_observability_io_logging_enabled: false },
});
/** From an offset. */
const behind = <T>(items: T[], { searchParams }: URL) => items.slice(Number(searchParams.get("offset") ?? 0));

// GitHub: whole dollars.

const githubError = (message: string, status = 403): Answer => ({
  status,
  body: { message, status: String(status) },
});
const githubBudget = (held: Held) => ({
  ...{ id: held.id, budget_type: "SkuPricing", budget_product_sku: "ai_credits" },
  budget_scope: held.kind === "member" ? "user" : held.kind,
  ...{ budget_entity_name: held.target, user: held.kind === "member" ? held.target : "" },
  ...{ budget_amount: number(held.usd), prevent_further_usage: held.stops },
  budget_alerting: { will_alert: false, alert_recipients: [] },
});
const githubCreate: Endpoint = ({ organization: { limits }, body }, org = "") => {
  const { budget_amount: amount, budget_scope: scope, user, prevent_further_usage: stops } = body;
  if (!Number.isInteger(amount)) return githubError("budget_amount must be whole dollars", 422);
  const kind = scope === "user" ? "member" : scope;
  const target = kind === "repository" ? body.budget_entity_name : (user ?? org);
  if (limits.find(kind, target)) return githubError("A budget exists already", 422);
  const budget = githubBudget(limits.set(kind, target, String(amount), "month", stops));
  return ok({ message: "Budget successfully created.", budget });
};
const githubUpdate: Endpoint = ({ organization: { limits }, body }, _org, id) => {
  const held = limits.held.find((each) => each.id === id);
  if (!held) return githubError("Not Found", 404);
  const stops = body.prevent_further_usage ?? held.stops;
  const changed = limits.set(held.kind, held.target, String(body.budget_amount), "month", stops);
  return ok({ message: "Budget successfully updated.", budget: githubBudget(changed) });
};
const githubDelete: Endpoint = ({ organization: { limits } }, _org, id) => {
  const held = limits.held.find((each) => each.id === id);
  limits.unset(held);
  return held ? ok({ message: "Budget successfully deleted.", id }) : githubError("Not Found", 404);
};
const githubList: Endpoint = ({ organization: { limits }, url }) => {
  const budgets = limits.held
    .map(githubBudget)
    .filter(({ budget_scope: scope }) => scope === (url.searchParams.get("scope") ?? scope));
  return ok({ budgets, has_next_page: false, total_count: budgets.length });
};

// Cursor: whole dollars; refusals are 200, too.

const cursorSpend: Endpoint = (asked) =>
  ok({
    teamMemberSpend: asked.organization.seats.map(({ email }) => ({
      ...{ email, userId: email, name: email, role: "member", spendCents: 0, overallSpendCents: 0 },
      hardLimitOverrideDollars: number(asked.organization.limits.find("member", email)?.usd ?? "0"),
      ...{ fastPremiumRequests: 0, monthlyLimitDollars: null },
    })),
    ...{ subscriptionCycleStart: Date.now(), totalMembers: asked.organization.seats.length, totalPages: 1 },
  });
const cursorSet: Endpoint = ({ organization: { limits, seats }, body }) => {
  const { userEmail: email, spendLimitDollars: usd } = body;
  if (usd !== null && !Number.isInteger(usd)) return ok({ outcome: "error", message: "Only integer values" });
  if (!seats.some((seat) => seat.email === email))
    return ok({ outcome: "error", message: "User is not a member of this team" });
  if (usd === null) limits.unset(limits.find("member", email));
  else limits.set("member", email, String(usd), "month");
  return ok({ outcome: "success", message: `Spend limit set to $${usd} for user ${email}` });
};
const cursorError = (message: string): Answer => ok({ outcome: "error", message });

const githubPath = /^\/organizations\/([^/]+)\/settings\/billing\/budgets(?:\/([^/]+))?$/;
/** The limits of OpenRouter, GitHub and Cursor. */
export const limitsInDollars: Endpoints = [
  [
    "GET",
    /^\/api\/v1\/keys$/,
    (asked) => ok({ data: behind(thingsOf(asked, "key"), asked.url).map(openrouterKey(asked)) }),
  ],
  [
    "GET",
    /^\/api\/v1\/keys\/([^/]+)$/,
    (asked, id) =>
      oneOf(
        "key",
        (thing) => ({ data: openrouterKey(asked)(thing) }),
        openrouterError("API key not found", 404),
      )(asked, id ?? ""),
  ],
  ["PATCH", /^\/api\/v1\/keys\/([^/]+)$/, writing(openrouterError, openrouterSetKey)],
  [
    "GET",
    /^\/api\/v1\/guardrails$/,
    (asked) =>
      ok({
        data: behind(thingsOf(asked, "guardrail"), asked.url).map(openrouterGuardrail(asked)),
        total_count: thingsOf(asked, "guardrail").length,
      }),
  ],
  [
    "GET",
    /^\/api\/v1\/guardrails\/([^/]+)$/,
    (asked, id) =>
      oneOf(
        "guardrail",
        (thing) => ({ data: openrouterGuardrail(asked)(thing) }),
        openrouterError("Guardrail not found", 404),
      )(asked, id ?? ""),
  ],
  ["PATCH", /^\/api\/v1\/guardrails\/([^/]+)$/, writing(openrouterError, openrouterSetGuardrail)],
  [
    "GET",
    /^\/api\/v1\/workspaces$/,
    (asked) =>
      ok({
        data: behind(thingsOf(asked, "workspace"), asked.url).map(openrouterWorkspace),
        total_count: thingsOf(asked, "workspace").length,
      }),
  ],
  [
    "GET",
    /^\/api\/v1\/workspaces\/([^/]+)$/,
    oneOf(
      "workspace",
      (thing) => ({ data: openrouterWorkspace(thing) }),
      openrouterError("Workspace not found", 404),
    ),
  ],
  [
    "GET",
    /^\/api\/v1\/workspaces\/([^/]+)\/budgets$/,
    ({ organization: { limits } }, id) =>
      ok({
        data: limits.held
          .filter(({ kind, target }) => kind === "workspace" && target === id)
          .map(openrouterBudget),
        include_byok_in_budgets: false,
      }),
  ],
  [
    "PUT",
    /^\/api\/v1\/workspaces\/([^/]+)\/budgets\/([^/]+)$/,
    writing(openrouterError, ({ organization: { limits }, body }, id = "", interval = "") =>
      ok({
        data: openrouterBudget(
          limits.set("workspace", id, String(body.limit_usd), periodNames[interval] ?? interval),
        ),
        include_byok_in_budgets: false,
      }),
    ),
  ],
  [
    "DELETE",
    /^\/api\/v1\/workspaces\/([^/]+)\/budgets\/([^/]+)$/,
    writing(openrouterError, ({ organization: { limits } }, id = "", interval = "") => {
      limits.unset(limits.find("workspace", id, periodNames[interval]));
      return ok({ deleted: true });
    }),
  ],
  ["GET", githubPath, githubList],
  ["POST", githubPath, writing(githubError, githubCreate)],
  ["PATCH", githubPath, writing(githubError, githubUpdate)],
  ["DELETE", githubPath, writing(githubError, githubDelete)],
  [
    "GET",
    /^\/users\/([^/]+)$/,
    (asked, login) =>
      asked.organization.seats.some(({ email }) => email.split("@")[0] === login)
        ? ok({ login, id: 1, type: "User" })
        : githubError("Not Found", 404),
  ],
  [
    "GET",
    /^\/orgs\/([^/]+)\/repos$/,
    (asked) =>
      ok(thingsOf(asked, "repository").map(({ name }) => ({ id: 1, full_name: name, archived: false }))),
  ],
  [
    "GET",
    /^\/repos\/([^/]+)\/([^/]+)$/,
    (asked, owner, name) =>
      oneOf(
        "repository",
        ({ id }) => ({ id: 1, full_name: id }),
        githubError("Not Found", 404),
      )(asked, `${owner}/${name}`),
  ],
  ["POST", /^\/teams\/spend$/, cursorSpend],
  ["POST", /^\/teams\/user-spend-limit$/, writing(cursorError, cursorSet)],
];
