import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { stringify } from "lossless-json";
import { Destinations } from "./destinations";
import { Limits } from "./limits";
import {
  type Answer,
  type Asked,
  centsText,
  dayAfter,
  dayMs,
  daysBetween,
  number,
  type Organization,
  pageOf,
  type TrueLine,
} from "./organization";
import { cursorEndpoints } from "./simulate-cursor";
import { githubEndpoint } from "./simulate-github";
import { limitEndpoint } from "./simulate-limits";
import { telemetryEndpoint } from "./simulate-telemetry";

const otherQuery: Answer = {
  status: 400,
  body: {
    type: "error",
    error: { type: "invalid_request_error", message: "page: belongs to another query" },
  },
};

const openaiUnits = {
  input_tokens: "input",
  cached_tokens: "cached input",
  cache_write_1h_tokens: "cache writes",
  output_tokens: "output",
};

function openaiCosts(asked: Asked): Answer {
  const { organization, url } = asked;
  const day = (name: string) =>
    new Date(Number(url.searchParams.get(name)) * 1000).toISOString().slice(0, 10);
  const groups = url.searchParams.getAll("group_by[]");
  const days = daysBetween(day("start_time"), day("end_time"));
  const cut = pageOf(days, asked, Number(url.searchParams.get("limit") ?? 7));
  if (!cut) return otherQuery;
  const data = cut.page.map((of) => ({
    object: "bucket",
    start_time: Date.parse(of) / 1000,
    end_time: Date.parse(of) / 1000 + 86_400,
    results: organization.bill
      .filter((line) => line.day === of)
      .map((line) => {
        const isTokens = line.unit !== "web_searches";
        const kind = line.unit === "web_searches" ? undefined : openaiUnits[line.unit];
        const named = `${line.model}, ${line.tier ? `${line.tier} ` : ""}${kind}`;
        return {
          object: "organization.costs.result",
          amount: { value: number(line.usd), currency: "usd" },
          line_item: groups.includes("line_item") ? (isTokens ? named : "web search tool calls") : null,
          project_id: null,
          ...(!organization.isOld && {
            api_key_id: groups.includes("api_key_id") ? line.key : null,
            user_id: null,
            api_source: null,
            quantity: isTokens ? line.quantity / 1000 : null,
            quantity_unit: isTokens ? "1000_tokens" : null,
          }),
        };
      }),
  }));
  return { status: 200, body: { object: "page", data, has_more: cut.next !== null, next_page: cut.next } };
}

const hourly = "cache_creation.ephemeral_1h_input_tokens";
const anthropicUnits = {
  input_tokens: "uncached_input_tokens",
  cached_tokens: "cache_read_input_tokens",
  cache_write_1h_tokens: hourly,
  output_tokens: "output_tokens",
};

/** What rows are not grouped by is null. */
const noGroup = Object.fromEntries(
  "actor actor_type agent_id claude_tag_category claude_tag_user_id context_window deployment_id environment_id inference_geo organization_id product rbac_group_id session_id slack_channel_id speed user_profile_id workspace_id"
    .split(" ")
    .map((name) => [name, null]),
);

const anthropicGroup = (line: TrueLine) => ({
  cost_type: line.unit === "web_searches" ? "web_search" : "tokens",
  token_type: line.unit === "web_searches" ? null : anthropicUnits[line.unit],
  model: line.model,
  service_tier: line.tier ?? "standard",
});

/** Who used a line, or the identity of its key. */
const anthropicActor = ({ key, user }: TrueLine, { searchParams }: URL) => {
  if (!searchParams.getAll("group_by[]").includes("actor")) return null;
  return user === undefined
    ? { type: "api_actor", api_key_id: key }
    : { type: "user_actor", user_id: `user_${user}`, email_address: user, name: user, deleted: false };
};

const rangeOf = (url: URL) =>
  daysBetween(
    url.searchParams.get("starting_at")?.slice(0, 10) ?? "",
    url.searchParams.get("ending_at")?.slice(0, 10) ?? "",
  );

function anthropicAnalytics(asked: Asked): Answer {
  const { organization, url, headers } = asked;
  const refuse = (status: number, type: string, message: string): Answer => ({
    status,
    body: { type: "error", error: { type, message } },
  });
  if (!organization.hasAnalytics)
    return refuse(403, "permission_error", "The analytics API is not enabled for this organization.");
  if (!String(headers["anthropic-beta"]).includes("analytics-usage-cost"))
    return refuse(400, "invalid_request_error", "anthropic-beta: is required");
  const days = rangeOf(url);
  if (days.length > 31) return refuse(400, "invalid_request_error", "ending_at: at most 31 days");
  const rows = days.flatMap((day) => organization.bill.filter((line) => line.day === day));
  const cut = pageOf(rows, asked, Number(url.searchParams.get("limit") ?? 20));
  if (!cut) return otherQuery;
  const data = cut.page.map((line) => ({
    starting_at: `${line.day}T00:00:00Z`,
    ending_at: `${dayAfter(line.day)}T00:00:00Z`,
    group: {
      ...{ ...noGroup, ...anthropicGroup(line), api_key_id: line.key },
      actor: anthropicActor(line, url),
    },
    cost: {
      amount: centsText(line.usd),
      list_amount: centsText(line.list ?? line.usd),
      currency: "USD",
      requests: null,
    },
  }));
  const more = { has_more: cut.next !== null, next_page: cut.next };
  return { status: 200, body: { data, ...more, data_refreshed_at: new Date().toISOString() } };
}

/** What was used, a row for each day, model, tier and key. */
function anthropicUsage(asked: Asked): Answer {
  const { organization, url } = asked;
  if (!organization.hasAnalytics) return anthropicAnalytics(asked);
  const rows = new Map<string, { line: TrueLine; counts: Record<string, number> }>();
  for (const line of rangeOf(url).flatMap((day) => organization.bill.filter((one) => one.day === day))) {
    const counts = rows.get(placeOf(line))?.counts ?? {};
    const kind = line.unit === "web_searches" ? "web_search_requests" : anthropicUnits[line.unit];
    rows.set(placeOf(line), { line, counts: { ...counts, [kind]: (counts[kind] ?? 0) + line.quantity } });
  }
  const cut = pageOf([...rows.values()], asked, Number(url.searchParams.get("limit") ?? 20));
  if (!cut) return otherQuery;
  const data = cut.page.map(
    ({ line, counts: { web_search_requests: searches = 0, [hourly]: hour = 0, ...counts } }) => ({
      starting_at: `${line.day}T00:00:00Z`,
      ending_at: `${dayAfter(line.day)}T00:00:00Z`,
      group: {
        ...{ ...noGroup, model: line.model, service_tier: line.tier ?? "standard", api_key_id: line.key },
        actor: anthropicActor(line, url),
      },
      usage: {
        ...{
          uncached_input_tokens: 0,
          cache_read_input_tokens: 0,
          output_tokens: 0,
          total_tokens: 0,
          requests: 1,
        },
        cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: hour },
        server_tool_use: { web_search_requests: searches },
        ...counts,
      },
    }),
  );
  const more = { has_more: cut.next !== null, next_page: cut.next };
  return { status: 200, body: { data, ...more, data_refreshed_at: new Date().toISOString() } };
}
const placeOf = ({ day, model, tier, key, user }: TrueLine) => JSON.stringify([day, model, tier, key, user]);

function anthropicReport(asked: Asked): Answer {
  const cut = pageOf(rangeOf(asked.url), asked, Number(asked.url.searchParams.get("limit") ?? 7));
  if (!cut) return otherQuery;
  const data = cut.page.map((day) => ({
    starting_at: `${day}T00:00:00Z`,
    ending_at: `${dayAfter(day)}T00:00:00Z`,
    results: asked.organization.bill
      .filter((line) => line.day === day)
      .map((line) => ({
        ...anthropicGroup(line),
        amount: centsText(line.usd),
        currency: "USD",
        context_window: "0-200k",
        workspace_id: null,
        description: `${line.model} ${line.unit} ${line.key}`,
      })),
  }));
  return { status: 200, body: { data, has_more: cut.next !== null, next_page: cut.next } };
}

function openrouterActivity({ organization }: Asked): Answer {
  const today = new Date().toISOString().slice(0, 10);
  const earliest = new Date(Date.parse(today) - 30 * dayMs).toISOString().slice(0, 10);
  const data = organization.bill
    .filter(({ day }) => day >= earliest && day < today)
    .map((line) => ({
      date: line.day,
      model: line.model,
      model_permaslug: line.model,
      endpoint_id: line.key,
      provider_name: "Simulated",
      usage: number(line.usd),
      byok_usage_inference: 0,
      requests: 1,
      prompt_tokens: line.quantity,
      completion_tokens: 0,
      reasoning_tokens: 0,
    }));
  return { status: 200, body: { data } };
}

const endpoints: Record<string, (asked: Asked) => Answer> = {
  "/v1/organization/costs": openaiCosts,
  "/v1/organizations/analytics/cost": anthropicAnalytics,
  "/v1/organizations/analytics/usage": anthropicUsage,
  "/v1/organizations/cost_report": anthropicReport,
  "/api/v1/activity": openrouterActivity,
  ...cursorEndpoints,
};

/** A refusal in the shape of the provider whose path it is. */
function refusalOf({ pathname }: URL, status: number, message: string): Answer {
  if (pathname.startsWith("/api/v1/")) return { status, body: { error: { code: status, message } } };
  if (pathname.startsWith("/teams/")) return { status, body: { error: message } };
  if (/^\/(organizations|orgs)\//.test(pathname))
    return { status, body: { message, status: String(status) } };
  return { status, body: { error: { message, code: status === 401 ? "invalid_api_key" : null } } };
}

/** A key as providers are given it: in a header of its own, as a bearer, or as the user of Basic with an empty password. */
function keyOf({ headers }: IncomingMessage): string {
  const [scheme = "", credentials = ""] = (headers.authorization ?? "").split(" ");
  if (scheme.toLowerCase() !== "basic") return String(headers["x-api-key"] ?? credentials);
  return Buffer.from(credentials, "base64").toString().replace(/:$/, "");
}

/**
 * Simulates OpenAI, Anthropic, OpenRouter, Cursor and GitHub on loopback, as their own SDKs read them: organizations with true bills, found by
 * their admin keys.
 */
export async function simulateProviders() {
  const organizations = new Map<string, Organization>();
  const requests: URL[] = [];
  const answer = async (request: IncomingMessage): Promise<Answer> => {
    const url = new URL(request.url ?? "/", "http://provider");
    const key = keyOf(request);
    const posted = await text(request);
    requests.push(url);
    const endpoint =
      telemetryEndpoint(request.method ?? "GET", url.pathname) ??
      limitEndpoint(request.method ?? "GET", url.pathname) ??
      endpoints[url.pathname] ??
      githubEndpoint(url.pathname);
    if (!endpoint) return { status: 404, body: { error: { message: "Not found" } } };
    const organization = organizations.get(key);
    if (!organization) return refusalOf(url, 401, "Incorrect API key provided.");
    await organization.beforeAnswer(url);
    if (organization.refusal)
      return refusalOf(url, 401, organization.refusal.replaceAll("{key}", organization.key));
    if (organization.throttled > 0) {
      organization.throttled -= 1;
      const headers = { "retry-after": organization.retryAfter };
      return { ...refusalOf(url, 429, "Rate limit reached."), headers };
    }
    return endpoint({ organization, url, headers: request.headers, body: posted && JSON.parse(posted) });
  };
  const server = createServer((request, response: ServerResponse) => {
    void answer(request).then(({ status, body, headers }) => {
      response.writeHead(status, { "content-type": "application/json", ...headers });
      response.end(stringify(body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    /** The setting that has the service ask the simulator. */
    providerUrls: ["openai", "anthropic", "openrouter", "cursor", "github"]
      .map((name) => `${name}=${url}`)
      .join(","),
    /** Every request so far. */
    requests,
    /** Adds an organization. @param key its admin key, which no other has */
    add(key: string, bill: TrueLine[]): Organization {
      const organization: Organization = {
        ...{ key, bill, hasAnalytics: true, isOld: false, pageSize: 1000 },
        ...{ seats: [], limits: new Limits(), destinations: new Destinations() },
        ...{ throttled: 0, retryAfter: "1", refusal: "", beforeAnswer: () => {} },
      };
      organizations.set(key, organization);
      return organization;
    },
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

export type { Organization, TrueLine };
/** The simulated providers. */
export type Simulator = Awaited<ReturnType<typeof simulateProviders>>;
