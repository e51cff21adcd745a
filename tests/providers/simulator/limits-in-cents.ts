import { parseDecimal, shiftDecimal, toText } from "@/lib/decimal";
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
import { type Answer, centsText, number } from "./organization";

const dollarsText = (cents: unknown) => toText(shiftDecimal(parseDecimal(String(cents)), -2));

// OpenAI: whole cents as JSON numbers.

const openaiError = (message: string, status = 400): Answer => ({
  status,
  body: { error: { message, type: "invalid_request_error", code: null } },
});
const openaiProject = ({ id, name }: Thing) => ({
  ...{ id, name, object: "organization.project", created_at: 1_700_000_000, archived_at: null },
  status: "active",
});
const openaiHeld = (held: Held | undefined, of: string): Answer =>
  held
    ? ok({
        object: `${of}.spend_limit`,
        threshold_amount: number(centsText(held.usd)),
        ...{ currency: "USD", interval: held.period, enforcement: { status: "inactive" } },
      })
    : openaiError("No spend limit found.", 404);
const openaiSet: Endpoint = (asked, id) => {
  const { threshold_amount: cents, interval, currency } = asked.body;
  if (!Number.isInteger(cents) || cents < 1 || interval !== "month" || currency !== "USD")
    return openaiError("threshold_amount: must be a positive integer of cents");
  const kind = id === undefined ? "organization" : "project";
  return openaiHeld(asked.organization.limits.set(kind, id ?? kind, dollarsText(cents), "month"), kind);
};
const openaiUnset: Endpoint = ({ organization: { limits } }, id) => {
  const kind = id === undefined ? "organization" : "project";
  const held = limits.find(kind, id ?? kind);
  limits.unset(held);
  return held ? ok({ object: `${kind}.spend_limit.deleted`, deleted: true }) : openaiError("None.", 404);
};

// Anthropic: whole cents as text.

const anthropicError = (message: string, status = 403): Answer => ({
  status,
  body: {
    type: "error",
    error: {
      ...{ type: "permission_error", message },
      details: { error_code: "spend_limits_admin_api_writes_not_enabled" },
    },
  },
});
const anthropicHeld = (held: Held) => ({
  ...{ id: held.id, type: "spend_limit", amount: centsText(held.usd), currency: "USD" },
  ...{ is_enabled: held.stops, created_at: now(), updated_at: now() },
  period: nameOf(held.period),
  scope:
    held.kind === "member"
      ? { type: "user", user_id: held.target }
      : held.kind === "workspace"
        ? { type: "workspace", workspace_id: held.target }
        : { type: "organization" },
});
const anthropicSet: Endpoint = ({ organization: { limits }, body }) => {
  const { amount, scope, period } = body;
  if (typeof amount !== "string" || !/^\d+$/.test(amount))
    return anthropicError("amount: must be cents", 400);
  const kind = scope.type === "user" ? "member" : scope.type;
  const target = scope.user_id ?? scope.workspace_id ?? "organization";
  return ok(anthropicHeld(limits.set(kind, target, dollarsText(amount), periodNames[period] ?? "month")));
};
const anthropicList: Endpoint = ({ organization: { limits }, url, headers }) => {
  if (!String(headers["anthropic-beta"]).includes("spend-limit-reads"))
    return anthropicError("anthropic-beta: is required", 400);
  const types = url.searchParams.getAll("scope_type[]");
  const data = limits.held.map(anthropicHeld).filter(({ scope }) => types.includes(scope.type));
  return ok({ data, has_more: false, next_page: null });
};
const anthropicUnset: Endpoint = ({ organization: { limits } }, id) => {
  const held = limits.held.find((each) => each.id === id);
  limits.unset(held);
  return held ? ok({ id, type: "spend_limit_deleted" }) : anthropicError("Not found", 404);
};
const workspaceOf = ({ id, name }: Thing) => ({
  id,
  name,
  type: "workspace",
  archived_at: null,
  created_at: now(),
});
const userOf = ({ id, name }: Thing) => ({
  id,
  name,
  email: `${name}@example.com`,
  role: "user",
  type: "user",
});
const openaiPath = /^\/v1\/organization(?:\/projects\/([^/]+))?\/spend_limit$/;
/** The limits of OpenAI and Anthropic. */
export const limitsInCents: Endpoints = [
  [
    "GET",
    /^\/v1\/organization\/projects$/,
    (asked) =>
      ok({
        object: "list",
        data: thingsOf(asked, "project").map(openaiProject),
        has_more: false,
        first_id: null,
        last_id: null,
      }),
  ],
  [
    "GET",
    /^\/v1\/organization\/projects\/([^/]+)$/,
    oneOf("project", openaiProject, openaiError("No such project", 404)),
  ],
  [
    "GET",
    openaiPath,
    ({ organization: { limits } }, id) =>
      id === undefined
        ? openaiHeld(limits.find("organization", "organization"), "organization")
        : openaiHeld(limits.find("project", id), "project"),
  ],
  ["POST", openaiPath, writing(openaiError, openaiSet)],
  ["DELETE", openaiPath, writing(openaiError, openaiUnset)],
  [
    "GET",
    /^\/v1\/organizations\/workspaces$/,
    (asked) =>
      ok({
        data: thingsOf(asked, "workspace").map(workspaceOf),
        has_more: false,
        first_id: null,
        last_id: null,
      }),
  ],
  [
    "GET",
    /^\/v1\/organizations\/workspaces\/([^/]+)$/,
    oneOf("workspace", workspaceOf, anthropicError("Not found", 404)),
  ],
  [
    "GET",
    /^\/v1\/organizations\/users$/,
    (asked) =>
      ok({ data: thingsOf(asked, "member").map(userOf), has_more: false, first_id: null, last_id: null }),
  ],
  ["GET", /^\/v1\/organizations\/users\/([^/]+)$/, oneOf("member", userOf, anthropicError("Not found", 404))],
  ["GET", /^\/v1\/organizations\/spend_limits$/, anthropicList],
  ["POST", /^\/v1\/organizations\/spend_limits$/, writing(anthropicError, anthropicSet)],
  ["DELETE", /^\/v1\/organizations\/spend_limits\/([^/]+)$/, writing(anthropicError, anthropicUnset)],
];
