import { describe, expect, test } from "vitest";
import { ledgerDifferences, withHarness } from "@/tests/helpers/harness";
import { chatCall, exportPoints, exportSpans, readCapture } from "@/tests/helpers/otlp";
import { makeTeamSource } from "@/tests/helpers/sources";

const harness = withHarness({ services: 2 });

let calls = 0;
const spans = (count: number, attributes: Record<string, string | number> = {}) =>
  Array.from({ length: count }, () => {
    calls += 1;
    return {
      id: calls.toString(16),
      attributes: { ...chatCall, "gen_ai.response.id": `chatcmpl-of-a-unique-name-${calls}`, ...attributes },
    };
  });

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

test("Names models without a price", async () => {
  const source = await makeTeamSource(harness);
  await source.accept(
    exportSpans(spans(3, { "gen_ai.response.model": "house-model", "gen_ai.provider.name": "acme" })),
  );
  expect((await source.read()).unpriced).toEqual([{ provider: "acme", model: "house-model", line_count: 6 }]);
});

describe("What is refused", () => {
  test("Is listed with its reason and an example, and is recorded once when it is sent again", async () => {
    const source = await makeTeamSource(harness, onlyCheckout);
    const refused = exportSpans(spans(3, { project: "payroll", feature: "pay" }));
    await source.accept(refused);
    const before = await source.until(({ kept }) => kept.records === 3);
    expect(before).toMatchObject({
      refused: 3,
      kept: { exports: 1, records: 3 },
      refusals: [
        {
          code: "project_not_allowed",
          description: "This API key may not use the project payroll.",
          count: 3,
          example: { emitter: "opentelemetry", project: "payroll", feature: "pay", model: "gpt-4o" },
        },
      ],
    });
    // By the same conditions it is refused again, and stays.
    expect((await source.replay()).body).toMatchObject({
      sent: 3,
      recorded: 0,
      refused: 3,
      reasons: [{ code: "project_not_allowed", count: 3 }],
    });
    await source.edit({ conditions: { project_slugs: ["checkout", "payroll"] } });
    const answers = await Promise.all([source.replay(), source.replay(), source.replay()]);
    const recorded = answers.reduce((sum, { body }) => sum + Number(body.recorded), 0);
    expect(recorded).toBe(3);
    // The program retries the same export too. That records nothing twice.
    await source.accept(refused);
    expect(await source.messages()).toHaveLength(3);
    expect((await source.messages())[0]).toMatchObject({ project: "payroll", feature: "pay" });
    expect((await source.replay()).body).toMatchObject({ sent: 0, recorded: 0 });
    const after = await source.until(({ arrivals }) => arrivals[0]?.recorded === 3);
    expect(after.kept).toEqual({ exports: 0, records: 0, last_at: null });
    expect(await ledgerDifferences(harness.fixtures, source.workspace)).toEqual([]);
  });

  test("Is sent again by the settings of then", async () => {
    const source = await makeTeamSource(harness, onlyCheckout);
    await source.accept(exportSpans(spans(1, { project: "payroll", "vcs.repository.name": "checkout" })));
    await source.until(({ kept }) => kept.records === 1);
    await source.configure({ project_attribute: "vcs.repository.name" });
    expect((await source.replay()).body).toMatchObject({ recorded: 1 });
    expect(await source.messages()).toMatchObject([{ project: "checkout" }]);
  });

  test("Keeps of a monthly limit what is recorded when the limit is raised", async () => {
    const source = await makeTeamSource(harness, { monthly_limit: "0.000001" });
    await source.accept(exportSpans(spans(4)));
    const { refusals } = await source.until(({ kept }) => kept.records === 4);
    expect(refusals).toMatchObject([{ code: "monthly_limit_exceeded", count: 4 }]);
    await source.edit({ monthly_limit: 10 });
    expect((await source.replay()).body).toMatchObject({ recorded: 4 });
  });

  test("Counts a running total once that grew meanwhile", async () => {
    const source = await makeTeamSource(harness, onlyCheckout);
    const now = Math.floor(Date.now() / 1000);
    const total = (value: number, time: number) =>
      exportPoints([{ start: now - 100, time: now - 100 + time, value }]);
    await source.accept(total(100, 10));
    await source.until(({ kept }) => kept.records === 1);
    await source.edit({ conditions: { project_slugs: ["shop", "search"] } });
    await source.accept(total(150, 20));
    expect((await source.replay()).body).toMatchObject({ sent: 1, recorded: 0, skipped: 1, refused: 0 });
    expect(await source.recorded()).toEqual({ input_tokens: 150 });
  });

  test("Counts the growth of a total that a limit refused", async () => {
    const source = await makeTeamSource(harness, { monthly_limit: "0.000001" });
    const now = Math.floor(Date.now() / 1000);
    await source.accept(exportPoints([{ start: now - 100, time: now - 90, value: 100 }]));
    await source.until(({ kept }) => kept.records === 1);
    await source.edit({ monthly_limit: 10 });
    await source.accept(exportPoints([{ start: now - 100, time: now - 80, value: 150 }]));
    expect((await source.replay()).body).toMatchObject({ recorded: 1 });
    expect(await source.recorded()).toEqual({ input_tokens: 150 });
  });

  test("Names whole requests that were refused, without what they carried", async () => {
    const source = await makeTeamSource(harness, { allowed_cidrs: ["203.0.113.0/24"] });
    expect((await source.send(exportSpans(spans(2)))).status).toBe(403);
    const { refusals, kept } = await source.until(({ refusals: all }) => all.length === 1);
    expect(refusals).toMatchObject([{ code: "ip_not_allowed", count: 1, example: null }]);
    expect(kept.records).toBe(0);
  });

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
    const sent = exportSpans(spans(2, { project: "payroll", ...hidden }), {
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
    const tables = await harness.fixtures.sql.query(
      "select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname in ('public', 'private')",
    );
    for (const { name } of tables.rows) {
      const { rows } = await harness.fixtures.sql.query(
        `select 1 from ${name} as t where to_jsonb(t)::text like '%' || $1 || '%' limit 1`,
        [marker],
      );
      expect(rows, name).toEqual([]);
    }
  });
});

describe("A flood", () => {
  test("Of projects in one export leaves few rows, and the rest is counted together", async () => {
    const source = await makeTeamSource(harness, onlyCheckout);
    const many = spans(1_200).map((span, index) => ({
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
      await source.accept(exportSpans(spans(40, attributes)));
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

  test("Of texts that Postgres cannot hold fails nobody's counts", async () => {
    const hostile = await makeTeamSource(harness, onlyCheckout);
    const neighbour = await makeTeamSource(harness, {}, hostile.team);
    const texts = ["\u{1F600}".repeat(200), "a\u0000b", '"\\'.repeat(100), `${"x".repeat(127)}\u{1F600}`];
    for (const text of texts) {
      const attributes = { project: "payroll", feature: text, "gen_ai.response.model": text };
      await hostile.accept(exportSpans(spans(2, attributes), { service: text }));
      await neighbour.accept(exportSpans(spans(1)));
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
        body: JSON.stringify(exportSpans(spans(5)).body),
      }),
    ),
  );
  const read = await source.until(({ told }) => told >= 200);
  expect(read).toMatchObject({ told: 200, recorded: 200, refused: 0 });
});

test("A source that sent before and is quiet for a day is silent", async () => {
  const source = await makeTeamSource(harness);
  expect((await source.read()).is_silent).toBe(false);
  await source.accept(exportSpans(spans(1)));
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
  await source.accept(exportSpans(spans(1)));
  await source.until(({ is_silent: isSilent }) => !isSilent);
});

test("Members read sources, and send again what their own keys were refused", async () => {
  const source = await makeTeamSource(harness, onlyCheckout);
  const { team } = source;
  await source.accept(exportSpans(spans(1, { project: "payroll" })));
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
      body: JSON.stringify(exportSpans(spans(2)).body),
    });
    expect(answer.status).toBe(200);
  }
  await stopping.stop();
  harness.services.splice(harness.services.indexOf(stopping), 1);
  expect(await source.read()).toMatchObject({ told: 6, recorded: 6 });
});
