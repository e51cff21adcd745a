import { describe, expect, test } from "vitest";
import { chatCall, exportPoints, exportSpans, readCapture, type TestSpan } from "@/tests/helpers/otlp";
import { makeSource, type Sent } from "@/tests/helpers/otlp-source";
import { withSharedHarness } from "@/tests/helpers/shared-harness";

const harness = withSharedHarness();

const call = { input_tokens: 10, output_tokens: 5 };
const twice = { input_tokens: 20, output_tokens: 10 };
const named = (id: string, others: Record<string, string | number> = {}) => ({
  ...chatCall,
  "gen_ai.response.id": id,
  ...others,
});
const unique = "chatcmpl-C9f2Kq7Lw1Zp4Xs8Vb3N";

/** Each way to send these spans: together, one by one, and in the other order. */
const waysOf = (spans: TestSpan[], scopes: string[] = []): Sent[][] => {
  const single = spans.map((span, index) => exportSpans([span], { scope: scopes[index] ?? "acme" }));
  return [
    [exportSpans(spans)],
    [exportSpans(spans.toReversed())],
    single,
    single.toReversed(),
    [...single, ...single],
  ];
};

describe("A call that is told several times is recorded once", () => {
  test.each([
    [
      "by a span and one inside it",
      [
        { id: "1", attributes: chatCall },
        { id: "2", parent: "1", attributes: named(unique) },
      ],
      call,
    ],
    [
      "by a gateway and an agent in other traces",
      [
        { id: "1", trace: "a1", attributes: named(unique) },
        {
          id: "2",
          trace: "b2",
          attributes: named(unique, {
            "gen_ai.provider.name": "openrouter",
            "gen_ai.usage.input_tokens": 10,
          }),
        },
      ],
      call,
    ],
    [
      "by an SDK inside an SDK inside an SDK",
      [
        { id: "1", attributes: chatCall },
        { id: "2", parent: "1", attributes: chatCall },
        { id: "3", parent: "2", attributes: chatCall },
      ],
      call,
    ],
  ] as [string, TestSpan[], object][])("%s", async (_, spans, expected) => {
    for (const [index, way] of waysOf(spans).entries()) {
      const source = await makeSource(harness);
      for (const sent of way) await source.accept(sent);
      expect(await source.recorded(), `way ${index}`).toEqual(expected);
    }
  });
});

test("The counts of the richer of two reports of one response are recorded, whichever comes first", async () => {
  // OpenLLMetry of Python counts the one output token that the beginning of a stream names once more than Anthropic's SDK.
  const wrapper = named(unique, { "gen_ai.usage.output_tokens": 6, "user.id": "ada" });
  const inSdk = named(unique, { "gen_ai.usage.cache_read.input_tokens": 4, feature: "search" });
  const spans = [
    { id: "1", trace: "a1", attributes: wrapper },
    { id: "2", trace: "b2", attributes: inSdk },
  ];
  for (const [index, way] of waysOf(spans, ["opentelemetry.instrumentation", "sdk"]).entries()) {
    const source = await makeSource(harness);
    for (const sent of way) await source.accept(sent);
    expect(await source.recorded(), `way ${index}`).toEqual({
      cache_read_tokens: 4,
      input_tokens: 6,
      output_tokens: 5,
    });
    const { rows } = await harness.fixtures.sql.query(
      `select distinct end_user, feature from public.messages
       where workspace_id = $1 and voids is null and voided_by is null`,
      [source.workspace],
    );
    expect(rows, `way ${index}`).toEqual([{ end_user: "ada", feature: "search" }]);
  }
});

test("What a gateway billed is recorded, whichever of its report and the program's comes first", async () => {
  const spans = [
    { id: "1", trace: "a1", attributes: named(unique, { "gen_ai.usage.cache_read.input_tokens": 4 }) },
    { id: "2", trace: "b2", attributes: named(unique, { "gen_ai.usage.total_cost": "0.5" }) },
  ];
  for (const [index, way] of waysOf(spans, ["ai", "openrouter"]).entries()) {
    // Together, they come from one library.
    if (index < 2) continue;
    const source = await makeSource(harness);
    for (const sent of way) await source.accept(sent);
    const { rows } = await harness.fixtures.sql.query(
      "select trim_scale(sum(amount_usd))::text as usd from public.messages where workspace_id = $1",
      [source.workspace],
    );
    expect(rows, `way ${index}`).toEqual([{ usd: "0.5" }]);
  }
});

test("A report of another key's call changes nothing of it", async () => {
  const source = await makeSource(harness);
  await source.accept(exportSpans([{ id: "1", trace: "a1", attributes: named(unique) }]));
  const other = await makeSource(harness, {}, source.workspace);
  const richer = named(unique, { "gen_ai.usage.cache_read.input_tokens": 4 });
  await other.accept(exportSpans([{ id: "2", trace: "b2", attributes: richer }], { scope: "sdk" }));
  expect(await source.recorded()).toEqual(call);
});

describe("Calls that only look alike are each recorded", () => {
  test.each([
    [
      "two under one agent",
      [
        { id: "1", attributes: { ...chatCall, "gen_ai.operation.name": "invoke_agent" } },
        { id: "2", parent: "1", attributes: chatCall },
        { id: "3", parent: "1", attributes: chatCall },
      ],
    ],
    [
      "two under one request",
      [
        { id: "2", parent: "1", attributes: chatCall },
        { id: "3", parent: "1", attributes: chatCall },
      ],
    ],
    [
      "two answers of a local server with one short id",
      [
        { id: "2", attributes: named("chatcmpl-12", { "gen_ai.usage.output_tokens": 4 }) },
        { id: "3", attributes: named("chatcmpl-12", { "gen_ai.usage.output_tokens": 6 }) },
      ],
    ],
  ] as [string, TestSpan[]][])("%s", async (_, spans) => {
    for (const [index, way] of waysOf(spans).entries()) {
      const source = await makeSource(harness);
      for (const sent of way) await source.accept(sent);
      expect(await source.recorded(), `way ${index}`).toEqual(twice);
    }
  });

  test("Calls of other workspaces, and of test keys", async () => {
    const spans = exportSpans([{ id: "1", attributes: named(unique) }]);
    const [one, other] = [await makeSource(harness), await makeSource(harness)];
    await one.accept(spans);
    await other.accept(spans);
    expect(await other.recorded()).toEqual(call);
    const { secret } = await harness.fixtures.key(one.workspace, { environment: "test" });
    await one.accept(spans, { headers: { authorization: `Bearer ${secret}` } });
    expect(await one.recorded()).toEqual(twice);
  });
});

test("What a call is known by keeps nothing of what was told", async () => {
  const source = await makeSource(harness);
  await source.accept(exportSpans([{ id: "1", parent: "9", attributes: named(unique) }]));
  const { rows } = await harness.fixtures.sql.query(
    "select distinct request from private.idempotency where workspace_id = $1",
    [source.workspace],
  );
  expect(rows).toEqual([{ request: { environment: "live" } }]);
});

test("An export that is sent at once by several records its calls once", async () => {
  const source = await makeSource(harness);
  const spans = exportSpans([1, 2, 3].map((id) => ({ id: String(id), attributes: named(`${unique}${id}`) })));
  await Promise.all(Array.from({ length: 12 }, () => source.accept(spans)));
  expect(await source.recorded()).toEqual({ input_tokens: 30, output_tokens: 15 });
});

describe("Metrics", () => {
  const at = 1_795_303_000;

  test("A change that is sent again counts once", async () => {
    const source = await makeSource(harness);
    const first = exportPoints([{ start: at, time: at + 60, value: 100 }], { isTotal: false });
    const second = exportPoints([{ start: at + 60, time: at + 120, value: 100 }], { isTotal: false });
    for (const sent of [first, second, first, second]) await source.accept(sent);
    expect(await source.recorded()).toEqual({ input_tokens: 200 });
  });

  test("A running total counts what it grew by, through retries, late points, restarts and resets", async () => {
    const source = await makeSource(harness);
    const send = (start: number, time: number, value: number) =>
      source.accept(exportPoints([{ start, time, value }]));
    await send(at, at + 60, 100);
    await send(at, at + 60, 100);
    await send(at, at + 120, 150);
    await send(at, at + 60, 100);
    expect(await source.recorded()).toEqual({ input_tokens: 150 });
    // A restart begins at 0 with another start; a point of the process before comes late.
    await send(at + 200, at + 260, 30);
    await send(at, at + 180, 170);
    expect(await source.recorded()).toEqual({ input_tokens: 200 });
    // A reset that keeps its start.
    await send(at + 200, at + 320, 10);
    expect(await source.recorded()).toEqual({ input_tokens: 210 });
    expect(await source.messages()).toHaveLength(5);
  });

  test("A running total that did not grow counts nothing", async () => {
    const source = await makeSource(harness);
    for (const time of [60, 120, 180])
      await source.accept(exportPoints([{ start: at, time: at + time, value: 100 }]));
    // The same in one export, and after one that grew.
    await source.accept(
      exportPoints([240, 300, 360].map((time) => ({ start: at, time: at + time, value: 130 }))),
    );
    expect(await source.recorded()).toEqual({ input_tokens: 130 });
  });

  test("A running total is settled before its export is answered", async () => {
    const source = await makeSource(harness);
    // Settling is held up; an answer that did not wait for it would come before.
    await harness.fixtures.sql.query(
      `create or replace function public.hold_up_settling() returns trigger language plpgsql as
         $$ begin if new.settled > old.settled then perform pg_sleep(0.5); end if; return new; end $$;
       create trigger hold_up before update on private.running_totals for each row
         when (old.workspace_id = '${source.workspace}') execute function public.hold_up_settling()`,
    );
    try {
      await source.accept(exportPoints([{ start: at, time: at + 60, value: 100 }]));
      const { rows } = await harness.fixtures.sql.query(
        "select settled::text, pending from private.running_totals where workspace_id = $1",
        [source.workspace],
      );
      expect(rows).toEqual([{ settled: "100", pending: [] }]);
    } finally {
      await harness.fixtures.sql.query(
        "drop trigger hold_up on private.running_totals; drop function public.hold_up_settling()",
      );
    }
  });

  test("A service's metrics count in hours in which it tells no calls", async () => {
    const source = await makeSource(harness);
    const points = (hours: number) =>
      exportPoints([{ start: at + hours * 3600, time: at + hours * 3600 + 60, value: 10 }], {
        isTotal: false,
      });
    await source.accept(points(0));
    await source.accept(points(3));
    await source.accept(
      exportSpans([{ id: "1", attributes: chatCall }], { endMs: (at + 3 * 3600 + 30) * 1000 }),
    );
    await source.accept(points(6));
    expect(await source.recorded()).toEqual({ input_tokens: 30, output_tokens: 5 });
  });

  test("A running total that several processes send at once counts once", async () => {
    const source = await makeSource(harness);
    await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        source.accept(exportPoints([{ start: at, time: at + 60 + index, value: 100 + index }])),
      ),
    );
    expect(await source.recorded()).toEqual({ input_tokens: 109 });
  });

  test("What was not settled before the service ended is recorded with the next export, once", async () => {
    const source = await makeSource(harness);
    await source.accept(exportPoints([{ start: at, time: at + 60, value: 100 }]));
    // As if the service had ended after it had taken the total 130, and once more after it had recorded 160.
    await harness.fixtures.sql.query(
      `update private.running_totals set pending = jsonb_build_array(
         jsonb_build_object('time', $2::text, 'value', '130')) where workspace_id = $1`,
      [source.workspace, `${at + 120}000000000`],
    );
    await source.accept(exportPoints([{ start: at, time: at + 180, value: 160 }]));
    expect(await source.recorded()).toEqual({ input_tokens: 160 });
    await harness.fixtures.sql.query(
      `update private.running_totals set settled = 130, settled_ns = $2::numeric,
         pending = jsonb_build_array(jsonb_build_object('time', $3::text, 'value', '160')) where workspace_id = $1`,
      [source.workspace, `${at + 120}000000000`, `${at + 180}000000000`],
    );
    await source.accept(exportPoints([{ start: at, time: at + 240, value: 165 }]));
    expect(await source.recorded()).toEqual({ input_tokens: 165 });
  });

  test.each([true, false])(
    "Count nothing beside the spans of their service, whichever come first",
    async (isTotal) => {
      const spans = exportSpans([{ id: "1", attributes: chatCall }], { endMs: (at + 30) * 1000 });
      const points = exportPoints(
        [
          { start: at, time: at + 60, value: 10 },
          { start: isTotal ? at : at + 60, time: at + 120, value: 17 },
        ],
        { isTotal },
      );
      const another = exportSpans([{ id: "2", attributes: chatCall }], {
        service: "another",
        endMs: (at + 30) * 1000,
      });
      for (const way of [
        [spans, points, another],
        [points, another, spans],
        [points, spans, points, another, spans],
      ]) {
        const source = await makeSource(harness);
        for (const sent of way) await source.accept(sent);
        expect(await source.recorded()).toEqual(twice);
      }
      const source = await makeSource(harness);
      await Promise.all([points, spans, points, spans, another].map((sent) => source.accept(sent)));
      expect(await source.recorded()).toEqual(twice);
    },
  );

  test("Of Claude Code as running totals count as its changes do", async () => {
    const { signal, body } = readCapture("claude-code-metrics");
    const totals = JSON.parse(
      JSON.stringify(body).replaceAll('"aggregationTemporality":1', '"aggregationTemporality":2'),
    );
    const source = await makeSource(harness);
    await source.accept({ signal, body: totals });
    await source.accept({ signal, body: totals }, { encoding: "protobuf" });
    expect(await source.recorded()).toEqual({
      input_tokens: 200,
      cache_read_tokens: 1000,
      cache_write_tokens: 300,
      output_tokens: 34,
    });
  });
});

test("Metrics without a user do not count what spans with users tell", async () => {
  const source = await makeSource(harness);
  const at = 1_795_303_000;
  await source.accept(
    exportSpans([{ id: "1", attributes: { ...chatCall, "user.id": "u_1", "session.id": "s_1" } }], {
      endMs: at * 1000,
    }),
  );
  await source.accept(exportPoints([{ start: at, time: at + 60, value: 10 }]));
  expect(await source.recorded()).toEqual(call);
});

test("A key keeps no calls of another from being counted", async () => {
  const source = await makeSource(harness);
  const at = 1_795_303_000;
  const points = exportPoints([{ start: at, time: at + 60, value: 10 }]);
  const spans = exportSpans([{ id: "1", attributes: chatCall }], { endMs: at * 1000 });
  const others = [{ permissions: ["read_summaries"] }, { conditions: { project_slugs: ["other"] } }, {}];
  for (const options of others) {
    const { secret } = await harness.fixtures.key(source.workspace, options);
    await source.accept(points, { headers: { authorization: `Bearer ${secret}` } });
  }
  expect(await source.recorded()).toEqual({ input_tokens: 10 });
  await source.accept(spans);
  expect(await source.recorded()).toEqual({ input_tokens: 20, output_tokens: 5 });
});

test("What a key may not record takes no session from what it may", async () => {
  const source = await makeSource(harness, { conditions: { features: ["search"] } });
  const at = 1_795_303_000;
  await source.accept(exportPoints([{ start: at, time: at + 60, value: 10 }]));
  await source.accept(
    exportSpans([{ id: "1", attributes: { ...chatCall, feature: "search" } }], { endMs: at * 1000 }),
  );
  expect(await source.recorded()).toEqual({ input_tokens: 10, output_tokens: 5 });
});
