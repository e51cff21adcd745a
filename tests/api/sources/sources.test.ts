import { describe, expect, test } from "vitest";
import { Outlay } from "@/packages/client/src/index";
import { chatCall, exportSpans, readCapture } from "@/tests/helpers/otlp";
import { withSharedHarness } from "@/tests/helpers/shared-harness";
import { makeTeamSource } from "@/tests/helpers/sources";
import { tablesWith } from "@/tests/helpers/tables-with";
import { uniqueCalls } from "@/tests/helpers/unique-calls";

const harness = withSharedHarness({ services: 2 });

const onlyCheckout = { conditions: { project_slugs: ["checkout", "search"] } };

test("Says what came in by emitter, with the last record, and counts what was told before apart", async () => {
  const source = await makeTeamSource(harness);
  await source.accept(readCapture("claude-code-logs"));
  await source.accept(readCapture("claude-code-logs"));
  const read = await source.until(({ told }) => told === 2);
  expect(read).toMatchObject({
    recorded: 1,
    refused: 0,
    is_silent: false,
    emitters: ["claude-code"],
    arrivals: [
      {
        emitter: "claude-code",
        told: 2,
        recorded: 1,
        repeated: 1,
        refused: 0,
        latest: { provider: "anthropic", model: "claude-opus-4-8", cost_status: expect.any(String) },
      },
    ],
    refusals: [],
    kept: { exports: 0, records: 0, last_at: null },
  });
  const [recorded] = await source.messages();
  expect(recorded).toMatchObject({ model: read.arrivals[0]?.latest?.model });
  const list = await source.team.users.viewer.get(`${source.team.path}/sources`);
  expect(list.body).toMatchObject({ can_create: false, sources: [{ id: source.id, told: 2 }] });
});

test("Accounts for everything told: the counts of what became of it sum to what was told", async () => {
  const source = await makeTeamSource(harness, onlyCheckout);
  const call = { ...chatCall, project: "checkout" };
  const named = { ...call, "gen_ai.response.id": "chatcmpl-of-an-account-0001" };
  const wrapper = {
    "openinference.span.kind": "LLM",
    "llm.provider": "openai",
    "llm.model_name": "gpt-4o",
    "llm.token_count.prompt": 10,
    "llm.token_count.completion": 5,
    project: "checkout",
  };
  const endMs = Date.now();
  const twice = exportSpans([{ id: "1", trace: "1", attributes: named }], {
    scope: "com.anthropic.sdk.x",
    endMs,
  });
  const again = exportSpans([{ id: "2", trace: "2", attributes: wrapper }], { endMs });
  const lost = exportSpans([
    { id: "3", attributes: { ...call, "gen_ai.operation.name": "invoke_agent" } },
    { id: "4", attributes: { "gen_ai.provider.name": "openai", "gen_ai.request.model": "gpt-4o" } },
    { id: "5", attributes: { "my.usage.tokens": 4 } },
    { id: "6", attributes: { ...call, project: "payroll" } },
    { id: "7", attributes: { ...call, "gen_ai.usage.output_tokens": "0.5" } },
    { id: "8", attributes: { "http.response.size": 5 } },
  ]);
  const around = exportSpans([{ id: "9", trace: "9", attributes: wrapper }]);
  const inside = exportSpans([{ id: "a", trace: "9", parent: "9", attributes: call }], {
    scope: "com.anthropic.sdk.x",
  });
  for (const sent of [twice, twice, again, around, inside, inside]) await source.accept(sent);
  const { partialSuccess } = await (await source.accept(lost)).json();
  expect(partialSuccess.errorMessage).toContain("no counts of tokens: 1.");
  expect(partialSuccess.errorMessage).toContain(
    "no known emitter reports its counts as these records do: 1.",
  );
  const { account } = await source.until(
    (read) => read.account.reduce((sum, { count }) => sum + count, 0) === 11,
  );
  expect(account.map(({ hour: _, ...row }) => row)).toEqual(
    expect.arrayContaining([
      { emitter: "anthropic-sdk", outcome: "recorded", by: null, count: 1 },
      { emitter: "anthropic-sdk", outcome: "replayed", by: null, count: 2 },
      { emitter: "openinference", outcome: "recorded", by: null, count: 1 },
      { emitter: "anthropic-sdk", outcome: "told_again", by: "openinference", count: 1 },
      { emitter: "openinference", outcome: "told_again", by: "anthropic-sdk", count: 1 },
      { emitter: "opentelemetry", outcome: "repeats", by: "contains_calls", count: 1 },
      { emitter: "opentelemetry", outcome: "without_counts", by: null, count: 1 },
      { emitter: "opentelemetry", outcome: "not_understood", by: null, count: 1 },
      { emitter: "opentelemetry", outcome: "refused", by: "project_not_allowed", count: 1 },
      { emitter: "opentelemetry", outcome: "refused", by: "validation_failed", count: 1 },
    ]),
  );
  expect(await source.messages()).toHaveLength(2);
});

test("Accounts for what gateways tell, each record once", async () => {
  const source = await makeTeamSource(harness);
  const deliver = async (gateway: string, body: unknown) => {
    const response = await fetch(`${source.url}/api/v1/sources/${gateway}`, {
      method: "POST",
      headers: { authorization: `Bearer ${source.secret}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    expect(response.status, await response.text()).toBeLessThan(300);
  };
  const half = { ...chatCall, "gen_ai.usage.output_tokens": "0.5" };
  const spans = [chatCall, half, half, half].map((attributes, index) => ({ id: `${index + 1}`, attributes }));
  await deliver("openrouter", exportSpans(spans).body);
  const call = { model: "gpt-4o", custom_llm_provider: "openai", prompt_tokens: 10, completion_tokens: 5 };
  await deliver("litellm", [{ ...call, id: "call-1" }, { id: "call-2" }, { ...call, id: 5 }]);
  const { account, refused } = await source.until(
    (read) => read.account.reduce((sum, { count }) => sum + count, 0) === 7,
  );
  expect(refused).toBe(4);
  expect(account.map(({ outcome, count }) => `${outcome} ${count}`).sort()).toEqual([
    "recorded 1",
    "recorded 1",
    "refused 1",
    "refused 3",
    "without_counts 1",
  ]);
});

test("Accounts for what the typed client tells", async () => {
  const source = await makeTeamSource(harness);
  const client = new Outlay({ url: source.url, apiKey: source.secret, project: "checkout" });
  client.record({
    type: "usage",
    provider: "openai",
    model: "gpt-4o",
    unit_type: "input_tokens",
    quantity: 5,
  });
  // An exporter has told this call with other contents.
  const response = "chatcmpl-of-the-typed-client-1";
  await source.accept(
    exportSpans([{ id: "1", attributes: { ...chatCall, "gen_ai.response.id": response } }]),
  );
  client.record(
    { type: "usage", provider: "openai", model: "gpt-4o", unit_type: "input_tokens", quantity: 10 },
    { idempotencyKey: `otel:response:${response}`, mayExist: true },
  );
  await client.flush();
  const { account } = await source.until(({ account }) => account.length === 3);
  expect(account).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ emitter: "outlay-client", outcome: "recorded", count: 1 }),
      expect.objectContaining({ emitter: "outlay-client", outcome: "told_again", count: 1 }),
      expect.objectContaining({ emitter: "opentelemetry", outcome: "recorded", count: 1 }),
    ]),
  );
});

test("Names models without a price", async () => {
  const source = await makeTeamSource(harness);
  await source.accept(
    exportSpans(uniqueCalls(3, { "gen_ai.response.model": "house-model", "gen_ai.provider.name": "acme" })),
  );
  expect((await source.read()).unpriced).toEqual([{ provider: "acme", model: "house-model", line_count: 6 }]);
});

describe("What is refused", () => {
  test("Has no prompt, secret or other text that nobody asked for, in any table", async () => {
    const source = await makeTeamSource(harness, onlyCheckout);
    const marker = "tell-nobody-of-this";
    const hidden = {
      "gen_ai.input.messages": marker,
      "gen_ai.prompt.0.content": marker,
      "http.request.header.authorization": marker,
      "ai.prompt": marker,
      password: marker,
      "db.statement": marker,
    };
    const sent = exportSpans(uniqueCalls(2, { project: "payroll", ...hidden }), {
      scope: marker,
      name: marker,
      resource: { "process.command_line": marker, "env.API_KEY": marker },
    });
    await source.accept(sent);
    // A record without ids, which is known by its content.
    const log = {
      timeUnixNano: "1795000000000000000",
      body: { stringValue: marker },
      eventName: marker,
      attributes: [{ key: "gen_ai.usage.input_tokens", value: { intValue: 5 } }],
    };
    const body = { resourceLogs: [{ scopeLogs: [{ logRecords: [log] }] }] };
    await source.accept({ signal: "logs", body });
    await source.until(({ kept }) => kept.records === 3);
    await source.edit({ conditions: null });
    await source.replay();
    expect(await source.messages()).toHaveLength(3);
    expect(await tablesWith(harness.database, marker)).toEqual([]);
  });
});

describe("A flood", () => {
  test("Of projects in one export leaves few rows, and the rest is counted together", async () => {
    const source = await makeTeamSource(harness, onlyCheckout);
    const many = uniqueCalls(1_200).map((span, index) => ({
      ...span,
      attributes: { ...span.attributes, project: `p-${index}`, "gen_ai.response.model": `m-${index}` },
    }));
    await source.accept(exportSpans(many));
    const read = await source.until(({ refused }) => refused >= 1_200);
    expect(read.refused).toBe(1_200);
    expect(read.arrivals).toHaveLength(1);
    expect(read.refusals.length).toBeLessThanOrEqual(50);
    expect(read.kept.records).toBeLessThanOrEqual(500);
  });

  test("Of refused exports is bounded by count and bytes, and the newest are kept", async () => {
    const source = await makeTeamSource(harness, onlyCheckout);
    const long = "x".repeat(490);
    for (let index = 0; index < 60; index += 1) {
      const attributes = {
        project: `p-${index}`,
        "user.email": long,
        "session.id": long,
        "gen_ai.conversation.id": long,
      };
      await source.accept(exportSpans(uniqueCalls(40, attributes)));
    }
    await source.until(({ refused }) => refused === 2_400);
    await source.until(({ kept }) => kept.exports > 0);
    const { rows } = await harness.fixtures.sql.query(
      `select count(*)::int as exports, sum(byte_count)::int as bytes,
        (select count(*)::int from public.source_refusals where api_key_id = $1) as reasons
       from public.refused_exports where api_key_id = $1`,
      [source.id],
    );
    expect(rows[0].exports).toBeLessThanOrEqual(20);
    expect(rows[0].bytes).toBeLessThanOrEqual(1024 * 1024);
    expect(rows[0].reasons).toBeLessThanOrEqual(50);
  }, 60_000);

  test("Of small refused exports is bounded by count: a further one takes the place of the oldest", async () => {
    const source = await makeTeamSource(harness, onlyCheckout);
    const { sql } = harness.fixtures;
    await sql.query(
      `insert into public.refused_exports (workspace_id, api_key_id, at, record_count, byte_count, records)
       select $1, $2, now() - number * interval '1 minute', 1, 4, '[{}]' from generate_series(1, 20) as number`,
      [source.team.workspace, source.id],
    );
    await source.accept(exportSpans(uniqueCalls(1, { project: "payroll" })));
    const kept = async () =>
      (
        await sql.query(
          `select count(*)::int as exports, (max(at) > now() - interval '50 seconds') as has_newest
           from public.refused_exports where api_key_id = $1`,
          [source.id],
        )
      ).rows[0];
    await expect.poll(kept, { timeout: 10_000 }).toMatchObject({ has_newest: true });
    expect(await kept()).toEqual({ exports: 20, has_newest: true });
  });

  test("Of texts that Postgres cannot hold fails nobody's counts", async () => {
    const hostile = await makeTeamSource(harness, onlyCheckout);
    const neighbour = await makeTeamSource(harness, {}, hostile.team);
    const texts = ["\u{1F600}".repeat(200), "a\u0000b", '"\\'.repeat(100), `${"x".repeat(127)}\u{1F600}`];
    for (const text of texts) {
      const attributes = { project: "payroll", feature: text, "gen_ai.response.model": text };
      await hostile.accept(exportSpans(uniqueCalls(2, attributes), { service: text }));
      await neighbour.accept(exportSpans(uniqueCalls(1)));
    }
    expect(await hostile.until(({ refused }) => refused === 8)).toMatchObject({ told: 8 });
    await neighbour.until(({ told }) => told === 4);
    await hostile.until(({ kept }) => kept.records === 8);
    await hostile.edit({ conditions: null });
    expect((await hostile.replay()).body).toMatchObject({ sent: 8, recorded: 8 });
  });

  test("Of unknown keys leaves nothing", async () => {
    const { url } = await makeTeamSource(harness);
    const count = async () =>
      (
        await harness.fixtures.sql.query(
          "select (select count(*) from public.source_refusals)::int + (select count(*) from public.refused_exports)::int as rows",
        )
      ).rows[0].rows;
    const before = await count();
    for (let index = 0; index < 20; index += 1) {
      const answer = await fetch(`${url}/api/otlp/v1/traces`, {
        method: "POST",
        headers: { authorization: `Bearer svc_live_${"A".repeat(38)}`, "content-type": "application/json" },
        body: "{}",
      });
      expect(answer.status).toBe(401);
    }
    expect(await count()).toBe(before);
  });
});

test("Two processes count what one key sends without losing any", async () => {
  const source = await makeTeamSource(harness);
  const urls = harness.services.map(({ baseUrl }) => baseUrl);
  await Promise.all(
    Array.from({ length: 40 }, (_, index) =>
      fetch(`${urls[index % 2]}/api/otlp/v1/traces`, {
        method: "POST",
        headers: { authorization: `Bearer ${source.secret}`, "content-type": "application/json" },
        body: JSON.stringify(exportSpans(uniqueCalls(5)).body),
      }),
    ),
  );
  const read = await source.until(({ told }) => told >= 200);
  expect(read).toMatchObject({ told: 200, recorded: 200, refused: 0 });
});

test("A source that sent before and is quiet for a day is silent", async () => {
  const source = await makeTeamSource(harness);
  expect((await source.read()).is_silent).toBe(false);
  await source.accept(exportSpans(uniqueCalls(1)));
  await source.until(({ told }) => told === 1);
  const age = (hours: number) =>
    harness.fixtures.sql.query(
      "update public.source_arrivals set last_at = now() - make_interval(hours => $2) where api_key_id = $1",
      [source.id, hours],
    );
  await age(23);
  expect((await source.read()).is_silent).toBe(false);
  await age(25);
  expect((await source.read()).is_silent).toBe(true);
  await source.accept(exportSpans(uniqueCalls(1)));
  await source.until(({ is_silent: isSilent }) => !isSilent);
});

test("Members read sources, and send again what their own keys were refused", async () => {
  const source = await makeTeamSource(harness, onlyCheckout);
  const { team } = source;
  await source.accept(exportSpans(uniqueCalls(1, { project: "payroll" })));
  await source.until(({ kept }) => kept.records === 1);
  for (const [who, read, replay] of [
    ["viewer", 200, 403],
    ["member", 200, 403],
    ["stranger", 404, 404],
    ["admin", 200, 200],
  ] as const) {
    expect((await team.users[who].get(source.path)).status, who).toBe(read);
    expect((await team.users[who].call("POST", `${source.path}/replay`)).status, who).toBe(replay);
  }
  await team.users.owner.call("DELETE", `${team.path}/api-keys/${source.id}`);
  const revoked = await source.replay();
  expect([revoked.status, revoked.body.error]).toEqual([409, "conflict"]);
});

test("A service that stops stores first what it counted", async () => {
  const source = await makeTeamSource(harness);
  const stopping = await harness.start();
  for (let index = 0; index < 3; index += 1) {
    const answer = await fetch(`${stopping.baseUrl}/api/otlp/v1/traces`, {
      method: "POST",
      headers: { authorization: `Bearer ${source.secret}`, "content-type": "application/json" },
      body: JSON.stringify(exportSpans(uniqueCalls(2)).body),
    });
    expect(answer.status).toBe(200);
  }
  await stopping.stop();
  harness.services.splice(harness.services.indexOf(stopping), 1);
  expect(await source.read()).toMatchObject({ told: 6, recorded: 6 });
});
