import Anthropic from "@anthropic-ai/sdk";
import { OpenRouter } from "@openrouter/sdk";

/** What a provider's SDK reads of a destination that it has registered; then it removes the destination. */
export type RegisteredDestination = { made: unknown; listed: unknown[]; read: unknown; removed: unknown };

/** Anthropic's SDK with a destination for all workspaces, without content, and its test. */
export async function anthropicDestination(baseUrl: string, adminKey: string, url: string) {
  const client = new Anthropic({ apiKey: adminKey, baseURL: baseUrl, maxRetries: 0 });
  const { telemetryDestinations } = client.beta.organization;
  const made = await telemetryDestinations.create({
    endpoint_url: url,
    headers: { authorization: "Bearer secret" },
    workspaces: { type: "all" },
    display_name: "Outlay",
    traces: { content_mode: "metadata_only" },
  });
  const listed: unknown[] = [];
  for await (const each of telemetryDestinations.list()) listed.push(each.display_name);
  const tested = await telemetryDestinations.test(made.id);
  const read = await telemetryDestinations.retrieve(made.id);
  const removed = await telemetryDestinations.delete(made.id);
  return {
    ...{ made: made.header_names, listed, read: read.state.type, removed: removed.type },
    tested: tested.result,
  };
}

/** OpenRouter's SDK with a destination of Broadcast in a workspace, which it turns on. */
export async function openrouterDestination(
  baseUrl: string,
  managementKey: string,
  url: string,
  workspaceId: string,
): Promise<RegisteredDestination> {
  const client = new OpenRouter({
    ...{ apiKey: managementKey, serverURL: `${baseUrl}/api/v1` },
    retryConfig: { strategy: "none" },
  });
  const { data: made } = await client.observability.create({
    createObservabilityDestinationRequest: {
      ...{ name: "Outlay", type: "otel-collector", workspaceId, privacyMode: true, samplingRate: 1 },
      ...{ config: { endpoint: url, headers: { Authorization: "Bearer secret" } } },
      ...{ regions: ["global", "europe", "us"], broadcastGenerationCost: true },
    },
  });
  if (made.type !== "otel-collector") throw new Error("It has another type.");
  const listed: unknown[] = [];
  for await (const page of await client.observability.list({ workspaceId }))
    listed.push(...page.result.data.map((each) => each.type === "otel-collector" && each.name));
  const { data: read } = await client.observability.get({ id: made.id });
  if (read.type !== "otel-collector") throw new Error("It has another type.");
  const { deleted: removed } = await client.observability.delete({ id: made.id });
  return { made: [made.privacyMode, made.samplingRate, made.regions], listed, read: read.enabled, removed };
}
