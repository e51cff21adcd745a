import { describe, expect, test } from "vitest";
import { apiClient, costMessage } from "@/tests/helpers/client";
import { withHarness } from "@/tests/helpers/harness";
import { monitoring, type Service, withPages } from "@/tests/helpers/service";

const harness = withHarness({ services: 0 });
const token = "token-of-the-monitoring";

type Samples = { name: string; labels: string; value: number }[];

/** The samples of `/metrics` in Prometheus' text format. */
async function readSamples(
  { baseUrl }: Service,
  headers: Record<string, string> = monitoring,
): Promise<Samples> {
  const response = await fetch(`${baseUrl}/metrics`, { headers });
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
  return (await response.text()).split("\n").flatMap((line) => {
    const sample = /^(?<name>\w+)(?:\{(?<labels>.*)\})? (?<value>\S+)$/.exec(line)?.groups;
    return sample
      ? [{ name: sample.name ?? "", labels: sample.labels ?? "", value: Number(sample.value) }]
      : [];
  });
}

/** The value of the only sample of this name whose labels contain all of these. */
function sampleOf(samples: Samples, name: string, ...labels: string[]): number {
  const found = samples.filter(
    (each) => each.name === name && labels.every((label) => each.labels.includes(label)),
  );
  expect(found, `${name} ${labels}`).toHaveLength(1);
  return found[0]?.value ?? Number.NaN;
}

describe("Access to the metrics", () => {
  const ask = async ({ baseUrl }: Service, headers: Record<string, string> = {}) =>
    (await fetch(`${baseUrl}/metrics`, { headers })).status;

  test("Takes METRICS_TOKEN from every caller, also on this machine", async () => {
    const service = await harness.start({ METRICS_TOKEN: token });
    expect(await ask(service)).toBe(401);
    expect(await ask(service, { authorization: `Bearer ${token}s` })).toBe(401);
    expect(await ask(service, { authorization: `Bearer ${token}` })).toBe(200);
  });

  test("Takes the token that the start printed where METRICS_TOKEN is not set, and nothing else", async () => {
    const service = await harness.start({ ...withPages, METRICS_TOKEN: "" });
    await expect.poll(() => service.said.join("\n")).toContain("Reference:");
    const printed = /\/outbox\/open\?token=(\S+)/.exec(service.said.join("\n"))?.[1];
    expect(printed).toMatch(/^[\w-]{32}$/);
    expect(await ask(service, { authorization: `Bearer ${printed}` })).toBe(200);
    // As a proxy on this machine forwards strangers: nothing tells them from callers here.
    expect(await ask(service)).toBe(401);
    expect(await ask(service, { authorization: "Bearer undefined" })).toBe(401);
  });
});

describe("The metrics", () => {
  test("Count requests by route and status, refusals by code, and the messages of every group", async () => {
    const service = await harness.start();
    const workspace = await harness.fixtures.workspace();
    const { secret } = await harness.fixtures.key(workspace);
    const api = apiClient(service.baseUrl, secret);
    const messages = 40;
    await Promise.all(Array.from({ length: messages }, () => api.post(costMessage())));
    expect((await api.post(costMessage({ quantity: -1 }))).status).toBe(400);
    expect((await api.get("/api/v1/projects/a-name-that-nobody-knows/spend")).status).toBe(404);

    const samples = await readSamples(service);
    const requests = "outlay_http_request_duration_seconds_count";
    expect(sampleOf(samples, requests, 'route="/api/v1/messages"', 'status="201"')).toBe(messages);
    expect(sampleOf(samples, requests, 'route="/api/v1/messages"', 'status="400"')).toBe(1);
    expect(sampleOf(samples, requests, 'route="/api/v1/projects/[slug]/spend"', 'status="404"')).toBe(1);
    expect(sampleOf(samples, "outlay_refusals_total", 'code="validation_failed"')).toBe(1);
    expect(sampleOf(samples, "outlay_refusals_total", 'code="not_found"')).toBe(1);
    expect(sampleOf(samples, "outlay_messages_recorded_total")).toBe(messages);
    expect(sampleOf(samples, "outlay_ingest_group_calls_sum")).toBe(messages + 1);
    expect(sampleOf(samples, "outlay_ingest_queued_messages")).toBe(0);
    expect(
      sampleOf(samples, "outlay_database_call_duration_seconds_count", 'purpose="writing"'),
    ).toBeGreaterThanOrEqual(sampleOf(samples, "outlay_ingest_group_calls_count"));
    expect(sampleOf(samples, "outlay_job_runs_total", 'job="book_subscriptions"', 'outcome="success"')).toBe(
      1,
    );
    expect(sampleOf(samples, "outlay_database_connections", 'purpose="writing"', 'state="wanted"')).toBe(0);
  });

  test("Contain nothing that a caller wrote: no path, no project, no key", async () => {
    const service = await harness.start(withPages);
    const workspace = await harness.fixtures.workspace();
    const { secret } = await harness.fixtures.key(workspace);
    const api = apiClient(service.baseUrl, secret);
    await api.post(costMessage({ model: "model-of-a-caller" }, { project: "project-of-a-caller" }));
    await api.get("/api/v1/invitations/token-of-a-caller");
    await api.get("/page-of-a-caller");
    const text = await (await fetch(`${service.baseUrl}/metrics`, { headers: monitoring })).text();
    expect(text).not.toMatch(/of-a-caller/);
    expect(text).not.toContain(secret);
  });
});
