import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { LosslessNumber, stringify } from "lossless-json";
import { parseDecimal, shiftDecimal, toText } from "@/lib/decimal";

/** A line of a true bill. Amounts are decimal text of dollars. */
export type TrueLine = {
  /** `YYYY-MM-DD`. */
  day: string;
  model: string;
  unit: "input_tokens" | "cached_tokens" | "cache_write_1h_tokens" | "output_tokens" | "web_searches";
  key: string;
  tier?: "batch";
  usd: string;
  /** Before discounts; the same where it is left out. */
  list?: string;
  quantity: number;
};

/** What a simulated organization is at each of its providers, and how these behave. A test changes it. */
export type Organization = {
  key: string;
  bill: TrueLine[];
  /** Whether Anthropic gives it the newer report. */
  hasAnalytics: boolean;
  /** Older answers of OpenAI lack some fields. */
  isOld: boolean;
  /** Buckets or rows of a page at most, whatever is asked for. */
  pageSize: number;
  /** Answers of 429 to come, each with this Retry-After. */
  throttled: number;
  retryAfter: string;
  /** What a refused key is told; `{key}` stands for it. */
  refusal: string;
  /** Called before each answer, which waits for it. */
  beforeAnswer: (request: URL) => void | Promise<void>;
};

type Answer = { status: number; body: unknown; headers?: Record<string, string> };
type Asked = { organization: Organization; url: URL; headers: IncomingMessage["headers"] };

/** A number with all its digits, as providers write dollars. */
const number = (text: string) => new LosslessNumber(text);
/** Decimal text of cents, as Anthropic writes amounts. */
const centsText = (usd: string) => toText(shiftDecimal(parseDecimal(usd), 2));

const dayMs = 86_400_000;
const dayAfter = (day: string) => new Date(Date.parse(day) + dayMs).toISOString().slice(0, 10);

function daysBetween(from: string, until: string): string[] {
  const days: string[] = [];
  for (let day = from; day < until; day = dayAfter(day)) days.push(day);
  return days;
}

/** Cuts a list into pages whose names are bound to their query: with another query, they are refused. */
function pageOf<T>(
  items: T[],
  { url, organization }: Asked,
  limit: number,
): { page: T[]; next: string | null } | null {
  const query = new URLSearchParams(url.searchParams);
  const token = query.get("page");
  query.delete("page");
  const bound = Buffer.from(query.toString()).toString("base64url");
  const [offset = "0", of] = token?.split(".") ?? ["0", bound];
  if (of !== bound) return null;
  const size = Math.min(limit, organization.pageSize);
  const end = Number(offset) + size;
  return {
    page: items.slice(Number(offset), end),
    next: end < items.length ? `${end}.${bound}` : null,
  };
}

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

const anthropicUnits = {
  input_tokens: "uncached_input_tokens",
  cached_tokens: "cache_read_input_tokens",
  cache_write_1h_tokens: "cache_creation.ephemeral_1h_input_tokens",
  output_tokens: "output_tokens",
};

const anthropicGroup = (line: TrueLine) => ({
  cost_type: line.unit === "web_searches" ? "web_search" : "tokens",
  token_type: line.unit === "web_searches" ? null : anthropicUnits[line.unit],
  model: line.model,
  service_tier: line.tier ?? "standard",
});

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
  const nothing = Object.fromEntries(
    "actor actor_type agent_id claude_tag_category claude_tag_user_id context_window deployment_id environment_id inference_geo organization_id product rbac_group_id session_id slack_channel_id speed user_profile_id workspace_id"
      .split(" ")
      .map((name) => [name, null]),
  );
  const data = cut.page.map((line) => ({
    starting_at: `${line.day}T00:00:00Z`,
    ending_at: `${dayAfter(line.day)}T00:00:00Z`,
    group: { ...nothing, ...anthropicGroup(line), api_key_id: line.key },
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
  "/v1/organizations/cost_report": anthropicReport,
  "/api/v1/activity": openrouterActivity,
};

/**
 * Simulates OpenAI, Anthropic and OpenRouter on loopback, as their own SDKs read them: organizations with true bills, found by
 * their admin keys.
 */
export async function simulateProviders() {
  const organizations = new Map<string, Organization>();
  const requests: URL[] = [];
  const answer = async (request: IncomingMessage): Promise<Answer> => {
    const url = new URL(request.url ?? "/", "http://provider");
    const key = request.headers["x-api-key"] ?? request.headers.authorization?.replace(/^Bearer /, "") ?? "";
    requests.push(url);
    const endpoint = endpoints[url.pathname];
    if (!endpoint) return { status: 404, body: { error: { message: "Not found" } } };
    const organization = organizations.get(String(key));
    if (!organization)
      return {
        status: 401,
        body: { error: { message: "Incorrect API key provided.", code: "invalid_api_key" } },
      };
    await organization.beforeAnswer(url);
    if (organization.refusal)
      return {
        status: 401,
        body: { error: { message: organization.refusal.replaceAll("{key}", organization.key) } },
      };
    if (organization.throttled > 0) {
      organization.throttled -= 1;
      return {
        status: 429,
        body: { error: { message: "Rate limit reached." } },
        headers: { "retry-after": organization.retryAfter },
      };
    }
    return endpoint({ organization, url, headers: request.headers });
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
    providerUrls: ["openai", "anthropic", "openrouter"].map((name) => `${name}=${url}`).join(","),
    /** Every request so far. */
    requests,
    /** Adds an organization. @param key its admin key, which no other has */
    add(key: string, bill: TrueLine[]): Organization {
      const organization: Organization = {
        ...{ key, bill, hasAnalytics: true, isOld: false, pageSize: 1000 },
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

/** The simulated providers. */
export type Simulator = Awaited<ReturnType<typeof simulateProviders>>;
