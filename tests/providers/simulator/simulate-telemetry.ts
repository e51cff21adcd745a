import type { HeldDestination } from "./destinations";
import { now, ok, thingsOf } from "./limit-endpoint";
import type { Answer, Asked } from "./organization";

// What the SDKs of Anthropic (1.14.0) and OpenRouter (1.3.19) read and write of destinations, and no more.

type Endpoint = (asked: Asked, id?: string) => Answer | Promise<Answer>;

const anthropicError = (message: string, status = 400): Answer => ({
  status,
  body: { type: "error", error: { type: "invalid_request_error", message } },
});
const anthropicShape = (held: HeldDestination) => ({
  ...{ id: held.id, type: "telemetry_destination", created_at: now(), updated_at: now() },
  ...{ display_name: held.name, endpoint_url: held.url, header_names: Object.keys(held.headers) },
  delivery_health: {
    ...{ last_error: held.lastError, last_error_at: held.lastErrorAt, last_success_at: held.lastSuccessAt },
  },
  state: held.disabled === null ? { type: "enabled" } : { type: "disabled", reason: { type: held.disabled } },
  traces: { content_mode: "metadata_only", enabled: true, endpoint_url: null, max_content_bytes: null },
  workspaces: { type: "all" },
});
const isLoopback = (url: URL) => url.hostname === "127.0.0.1" || url.hostname === "localhost";

/** Requests without the beta header, and writes that are refused. */
const ofAnthropic =
  (endpoint: Endpoint): Endpoint =>
  (asked, id) => {
    if (!String(asked.headers["anthropic-beta"]).includes("telemetry-destinations-2026-08-11"))
      return anthropicError("anthropic-beta: this header is required");
    return endpoint(asked, id);
  };
const one =
  (run: (held: HeldDestination, asked: Asked) => Answer | Promise<Answer>): Endpoint =>
  (asked, id) => {
    const held = asked.organization.destinations.find("anthropic", id);
    return held ? run(held, asked) : anthropicError("Telemetry destination not found.", 404);
  };

const anthropicCreate: Endpoint = ({ organization: { destinations }, body }) => {
  const { endpoint_url: url, headers = {}, workspaces, display_name: name = null, traces = {} } = body;
  if (destinations.refusal)
    return anthropicError(destinations.refusal.replace("{headers}", JSON.stringify(headers)), 403);
  if (destinations.held.filter((each) => each.provider === "anthropic").length >= 10)
    return anthropicError("An organization can have at most 10 telemetry destinations.");
  const parsed = URL.parse(url);
  if (!parsed || (!isLoopback(parsed) && (parsed.protocol !== "https:" || parsed.port !== "")))
    return anthropicError("endpoint_url: must use https and port 443");
  if (/\/v1\/traces$/.test(parsed.pathname)) return anthropicError("endpoint_url: leave out /v1/traces");
  if (Object.keys(headers).some((header) => /^(content-|anthropic-|host$|cookie$)/i.test(header)))
    return anthropicError("headers: the name is reserved");
  if (workspaces?.type !== "all") return anthropicError("workspaces: is required");
  return ok(
    anthropicShape(
      destinations.add({ provider: "anthropic", name, url, headers, workspace: null, settings: traces }),
    ),
  );
};

const anthropicTest = one(async (held, { organization: { destinations } }) => {
  const span = { id: "7e57", trace: "7e57", attributes: {} };
  const problem = destinations.losesTests ? null : await destinations.send(held, [span], "anthropic.test");
  const result = problem === null ? { type: "success" } : { type: "failure", error: problem };
  return ok({ type: "telemetry_destination_test", result });
});

const openrouterError = (message: string, status = 400): Answer => ({
  status,
  body: { error: { code: status, message } },
});
const openrouterShape = (held: HeldDestination) => ({
  ...{ id: held.id, name: held.name, type: "otel-collector", workspace_id: held.workspace },
  config: { endpoint: held.url, headers: { Authorization: "***" } },
  ...{ enabled: held.disabled === null, api_key_hashes: null, filter_rules: null },
  ...{ broadcast_generation_identity: false, broadcast_generation_request_context: false },
  ...{ created_at: now(), updated_at: now() },
  ...held.settings,
});

const openrouterCreate: Endpoint = (asked) => {
  const { destinations } = asked.organization;
  const { name, type, config, workspace_id: of, enabled: _, ...rest } = asked.body;
  const {
    privacy_mode = false,
    sampling_rate = 1,
    regions = ["global"],
    broadcast_generation_cost = false,
  } = rest;
  if (destinations.refusal) return openrouterError(destinations.refusal, 403);
  if (type !== "otel-collector") return openrouterError("type: is not simulated");
  const workspace = of ?? thingsOf(asked, "workspace")[0]?.id ?? null;
  const there = destinations.held.filter((each) => each.workspace === workspace);
  if (there.length >= 5)
    return openrouterError("A maximum of 5 destinations per type is allowed in a workspace.", 409);
  const settings = { privacy_mode, sampling_rate, regions, broadcast_generation_cost };
  const { endpoint: url, headers = {} } = config;
  const made = destinations.add({ provider: "openrouter", name, url, headers, workspace, settings });
  return { status: 201, body: { data: openrouterShape(made) } };
};
const openrouterList: Endpoint = (asked) => {
  const { searchParams } = asked.url;
  const of = searchParams.get("workspace_id") ?? thingsOf(asked, "workspace")[0]?.id ?? null;
  const all = asked.organization.destinations.held
    .filter((each) => each.provider === "openrouter" && each.workspace === of)
    .map(openrouterShape);
  return ok({ data: all.slice(Number(searchParams.get("offset") ?? 0)), total_count: all.length });
};
const openrouterWorkspace: Endpoint = (asked, id) => {
  const found = thingsOf(asked, "workspace").find((thing) => thing.id === id);
  if (!found) return openrouterError("Workspace not found", 404);
  found.broadcasts = asked.body.is_observability_broadcast_enabled ?? found.broadcasts;
  return ok({ data: { id } });
};
const broadcast =
  (run: (held: HeldDestination, asked: Asked) => Answer): Endpoint =>
  (asked, id) => {
    const held = asked.organization.destinations.find("openrouter", id);
    return held ? run(held, asked) : openrouterError("Destination not found", 404);
  };

const anthropicPath = /^\/v1\/organizations\/telemetry_destinations$/;
const anthropicOne = /^\/v1\/organizations\/telemetry_destinations\/([^/]+)$/;
const openrouterPath = /^\/api\/v1\/observability\/destinations$/;
const openrouterOne = /^\/api\/v1\/observability\/destinations\/([^/]+)$/;

const endpoints: [method: string, path: RegExp, Endpoint][] = [
  [
    "GET",
    anthropicPath,
    ofAnthropic(({ organization: { destinations } }) =>
      ok({
        data: destinations.held.filter((each) => each.provider === "anthropic").map(anthropicShape),
        next_page: null,
      }),
    ),
  ],
  ["POST", anthropicPath, ofAnthropic(anthropicCreate)],
  ["GET", anthropicOne, ofAnthropic(one((held) => ok(anthropicShape(held))))],
  [
    "DELETE",
    anthropicOne,
    ofAnthropic(
      one((held, { organization: { destinations } }) => {
        if (destinations.refusal) return anthropicError(destinations.refusal, 403);
        destinations.remove(held);
        return ok({ id: held.id, type: "telemetry_destination_deleted" });
      }),
    ),
  ],
  ["POST", /^\/v1\/organizations\/telemetry_destinations\/([^/]+)\/test$/, ofAnthropic(anthropicTest)],
  ["GET", openrouterPath, openrouterList],
  ["POST", openrouterPath, openrouterCreate],
  ["GET", openrouterOne, broadcast((held) => ok({ data: openrouterShape(held) }))],
  [
    "DELETE",
    openrouterOne,
    broadcast((held, { organization: { destinations } }) => {
      if (destinations.refusal) return openrouterError(destinations.refusal, 403);
      destinations.remove(held);
      return ok({ deleted: true });
    }),
  ],
  ["PATCH", /^\/api\/v1\/workspaces\/([^/]+)$/, openrouterWorkspace],
];

/** The endpoints of telemetry destinations, as the providers' SDKs call them. */
export function telemetryEndpoint(
  method: string,
  path: string,
): ((asked: Asked) => Answer | Promise<Answer>) | undefined {
  for (const [of, pattern, endpoint] of endpoints) {
    const parts = of === method ? pattern.exec(path) : null;
    if (parts) return (asked) => endpoint(asked, parts[1] && decodeURIComponent(parts[1]));
  }
  return undefined;
}
