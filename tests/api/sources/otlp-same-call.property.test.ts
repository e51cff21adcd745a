import fc from "fast-check";
import { expect, test } from "vitest";
import { ledgerDifferences } from "@/tests/helpers/harness";
import { chatCall, exportSpans } from "@/tests/helpers/otlp";
import { makeSource, type Sent } from "@/tests/helpers/otlp-source";
import { withSharedHarness } from "@/tests/helpers/shared-harness";

// Calls that programs tell in traces of their own, most of them without an id of the provider's.

const harness = withSharedHarness({ services: 2 });

type Teller = "sdk" | "openinference" | "langsmith";
type Call = {
  n: number;
  model: string;
  input: number;
  cached: number;
  output: number;
  from: number;
  until: number;
  by: Teller[];
};

/** Numbers from 0 to below 1 by a seed (Park and Miller). */
function numbers(seed: number): () => number {
  let state = (Math.abs(seed) % 2_147_483_646) + 1;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}

const base = Date.UTC(2026, 10, 21, 9);

/** Calls of few counts, so that many are alike; those that could be one call begin or end more than a second apart. */
function randomCalls(count: number, random: () => number): Call[] {
  const pick = <T>(list: readonly T[]) => list[Math.floor(random() * list.length)] as T;
  const calls: Call[] = [];
  while (calls.length < count) {
    const from = base + Math.floor(random() * 3_000_000);
    const input = pick([1200, 1300, 1400]);
    const call: Call = {
      n: calls.length,
      model: pick(["claude-sonnet-4-5", "claude-haiku-4-5"]),
      input,
      cached: input === 1200 ? 0 : 1000,
      output: pick([10, 20, 30]),
      from,
      until: from + 200 + Math.floor(random() * 20_000),
      by: pick<Teller[]>([
        ["sdk"],
        ["openinference"],
        ["langsmith"],
        ["sdk", "openinference"],
        ["openinference", "langsmith"],
        ["sdk", "langsmith"],
        ["sdk", "openinference", "langsmith"],
      ]),
    };
    const isAlike = (other: Call) =>
      other.model === call.model && other.input === call.input && other.output === call.output;
    const isApart = (other: Call) =>
      other.until + 1_000 < call.from ||
      call.until + 1_000 < other.from ||
      (Math.abs(other.from - call.from) > 1_500 && Math.abs(other.until - call.until) > 1_500);
    if (calls.every((other) => !isAlike(other) || isApart(other))) calls.push(call);
  }
  return calls;
}

/** What a program tells of a call. The outer ones begin earlier and end later. */
function tell(call: Call, by: Teller, random: () => number) {
  const { n, model, input, cached, output } = call;
  const margin = { sdk: 0, openinference: 100, langsmith: 200 }[by];
  const span = {
    id: `${by.length}${n.toString(16).padStart(8, "0")}`,
    trace: `${Math.floor(random() * 1e9).toString(16)}${n.toString(16).padStart(6, "0")}${by.length}`,
    startMs: call.from - Math.floor(random() * 90) - margin,
    endMs: call.until + Math.floor(random() * 90) + margin,
  };
  if (by === "sdk") {
    Object.assign(span, { startMs: call.from, endMs: call.until });
    const attributes = {
      "gen_ai.operation.name": "chat",
      "gen_ai.provider.name": "anthropic",
      "gen_ai.response.model": `${model}-20250929`,
      "gen_ai.response.id": `msg_01C9f2Kq7Lw1Zp4Xs8Vb${n.toString().padStart(6, "0")}`,
      "gen_ai.usage.input_tokens": input,
      "gen_ai.usage.cache_read.input_tokens": cached,
      "gen_ai.usage.output_tokens": output,
    };
    return exportSpans([{ ...span, attributes }], { scope: "com.anthropic.sdk.typescript" });
  }
  if (by === "openinference") {
    const attributes = {
      "openinference.span.kind": "LLM",
      "llm.provider": "anthropic",
      "llm.model_name": model,
      "llm.token_count.prompt": input,
      "llm.token_count.prompt_details.cache_read": cached,
      "llm.token_count.completion": output,
      "user.id": `u_${n}`,
    };
    return exportSpans([{ ...span, attributes }], { scope: "openinference.instrumentation.anthropic" });
  }
  const attributes = {
    "langsmith.span.kind": "llm",
    "gen_ai.operation.name": "chat",
    "gen_ai.system": "anthropic",
    "gen_ai.request.model": `anthropic/${model}`,
    "gen_ai.usage.input_tokens": input,
    "gen_ai.usage.output_tokens": output,
    "session.id": `s_${n}`,
  };
  return exportSpans([{ ...span, attributes }], { scope: "langsmith" });
}

type Body = { resourceSpans: unknown[] };

function inOne(exports: { body: Body }[]): Sent {
  return { signal: "traces", body: { resourceSpans: exports.flatMap(({ body }) => body.resourceSpans) } };
}

function shuffle<T>(list: T[], random: () => number): T[] {
  return list
    .map((value) => [random(), value] as const)
    .sort(([a], [b]) => a - b)
    .map(([, value]) => value);
}

/** Exports of up to `most` records, some of them twice. */
function cut(told: { body: Body }[], most: number, random: () => number): Sent[] {
  const exports: Sent[] = [];
  for (let at = 0; at < told.length; ) {
    const length = 1 + Math.floor(random() * most);
    exports.push(inOne(told.slice(at, at + length)));
    at += length;
  }
  return shuffle([...exports, ...exports.filter(() => random() < 0.2)], random);
}

/** Sends to both processes, several at once. */
async function sendAll(source: Awaited<ReturnType<typeof makeSource>>, exports: Sent[]): Promise<void> {
  const waiting = [...exports];
  const urls = harness.services.map(({ baseUrl }) => baseUrl);
  await Promise.all(
    Array.from({ length: 6 }, async (_, index) => {
      const base = urls[index % urls.length] as string;
      for (let sent = waiting.pop(); sent; sent = waiting.pop()) {
        const response = await source.send(sent, { base });
        // As exporters do.
        if (response.status === 503) waiting.push(sent);
        else expect(response.status, await response.text()).toBe(200);
      }
    }),
  );
}

const spent = async (workspace: string) => {
  const { rows } = await harness.fixtures.sql.query(
    `select trim_scale(sum(amount_usd))::text as usd,
       (select trim_scale(sum(amount_usd))::text from public.daily_spend where workspace_id = $1) as daily,
       (select sum(message_count)::int from public.daily_spend where workspace_id = $1) as calls,
       (select trim_scale(sum(amount_usd))::text from public.key_spend where workspace_id = $1) as of_key
     from public.messages where workspace_id = $1`,
    [workspace],
  );
  return rows[0];
};

test("Records hundreds of calls once, whoever tells them, in whatever order and exports", {
  timeout: 600_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 1e9 }), async (seed) => {
      const random = numbers(seed);
      const calls = randomCalls(300, random);
      const told = shuffle(
        calls.flatMap((call) => call.by.map((by) => tell(call, by, random))),
        random,
      );
      const source = await makeSource(harness);
      await sendAll(source, cut(told, 60, random));
      // The same calls, each told once by the one that says most.
      const control = await makeSource(harness);
      const best = calls.map((call) =>
        tell(call, call.by.find((by) => by !== "langsmith") ?? "langsmith", random),
      );
      await control.accept(inOne(best));

      expect(await source.recorded()).toEqual(await control.recorded());
      expect(await source.messages()).toHaveLength(calls.length);
      expect(await spent(source.workspace)).toEqual(await spent(control.workspace));
      expect(await ledgerDifferences(harness.fixtures, source.workspace)).toEqual([]);
      const { rows } = await harness.fixtures.sql.query(
        `select end_user, session from public.messages
         where workspace_id = $1 and part = 0 and voids is null and voided_by is null`,
        [source.workspace],
      );
      const names = rows.map(({ end_user, session }) => `${end_user} ${session}`).sort();
      const expected = calls.map(({ n, by }) => {
        const user = by.includes("openinference") ? `u_${n}` : null;
        return `${user} ${by.includes("langsmith") ? `s_${n}` : null}`;
      });
      expect(names).toEqual(expected.sort());
    }),
    { numRuns: 4, endOnFailure: true },
  );
});

/** What two nested spans tell of a call, of which one knows how long the cache keeps what was written. */
function tellNested({ n, model, input, output, from, until }: Call, isInnerRicher: boolean) {
  const trace = `abc${n.toString(16).padStart(6, "0")}`;
  const id = (place: number) => `${place}${n.toString(16).padStart(8, "0")}`;
  const counts = {
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": "anthropic",
    "gen_ai.response.model": model,
    "gen_ai.usage.input_tokens": input,
    "gen_ai.usage.output_tokens": output,
  };
  const split = {
    "gen_ai.usage.cache_creation.input_tokens": 1_000,
    "anthropic.usage.cache_creation.ephemeral_1h_input_tokens": 800 + n,
  };
  const outer = {
    id: id(1),
    trace,
    startMs: from - 50,
    endMs: until + 50,
    attributes: { ...counts, "user.id": `u_${n}`, ...(!isInnerRicher && split) },
  };
  const inner = {
    id: id(2),
    parent: id(1),
    trace,
    startMs: from,
    endMs: until,
    attributes: { ...counts, "session.id": `s_${n}`, ...(isInnerRicher && split) },
  };
  return [exportSpans([outer], { scope: "outer" }), exportSpans([inner], { scope: "inner" })];
}

test("Records nested spans of a call as if they came together, whichever comes first", {
  timeout: 300_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 1e9 }), async (seed) => {
      const random = numbers(seed);
      const calls = randomCalls(120, random);
      const told = calls.flatMap((call) => [
        ...tellNested(call, random() < 0.5),
        // A third one, in a trace of its own, that says less.
        ...(random() < 0.3 ? [tell({ ...call, cached: 0 }, "langsmith", random)] : []),
      ]);
      const source = await makeSource(harness);
      const exports = cut(shuffle(told, random), 40, random);
      const spans = exports.reduce((sum, { body }) => sum + (body as Body).resourceSpans.length, 0);
      await sendAll(source, exports);
      const together = await makeSource(harness);
      await together.accept(inOne(told));

      const written = calls.reduce((sum, { n }) => sum + 800 + n, 0);
      expect(await source.messages()).toHaveLength(calls.length);
      expect(await source.recorded()).toMatchObject({ cache_write_1h_tokens: written });
      expect(await source.recorded()).toEqual(await together.recorded());
      expect(await spent(source.workspace)).toEqual(await spent(together.workspace));
      expect(await ledgerDifferences(harness.fixtures, source.workspace)).toEqual([]);
      const { rows } = await harness.fixtures.sql.query(
        `select count(*)::int from public.messages where workspace_id = $1 and part = 0 and voids is null
         and voided_by is null and substr(end_user, 3) = substr(session, 3)`,
        [source.workspace],
      );
      expect(rows).toEqual([{ count: calls.length }]);
      // Each told record is in the account, which is stored a moment after the answer.
      const account = async () => {
        const { rows } = await harness.fixtures.sql.query(
          `select sum(record_count)::int as told, sum(record_count) filter (where outcome = 'recorded')::int as recorded
           from public.source_hours where api_key_id = $1`,
          [source.id],
        );
        return rows[0];
      };
      await expect.poll(account, { timeout: 10_000 }).toEqual({ told: spans, recorded: calls.length });
    }),
    { numRuns: 5, endOnFailure: true },
  );
});

test("Records equal calls of the same moment, each told twice, each once", async () => {
  const random = numbers(7);
  const calls = Array.from(
    { length: 100 },
    (_, n): Call => ({
      n,
      model: "claude-sonnet-4-5",
      input: 1200,
      cached: 0,
      output: 10,
      from: base + n,
      until: base + 5_000 + n,
      by: ["sdk", "openinference"],
    }),
  );
  const [sdk = [], wrapper = []] = (["sdk", "openinference"] as const).map((by) =>
    calls.map((call) => tell(call, by, random)),
  );
  for (const exports of [
    [inOne([...sdk, ...wrapper])],
    [inOne(sdk), inOne(wrapper)],
    [inOne(wrapper), inOne(sdk)],
  ]) {
    const source = await makeSource(harness);
    for (const sent of exports) await source.accept(sent);
    expect(await source.messages()).toHaveLength(calls.length);
  }
});

test("Records two equal calls of the same moment, each told by a wrapper and by the SDK inside it, in every order of exports", async () => {
  const told = ["a", "b"].flatMap((call) => {
    const counts = { ...chatCall, "gen_ai.response.id": `chatcmpl-${call.repeat(24)}` };
    const wrapper = {
      "openinference.span.kind": "LLM",
      "llm.model_name": "gpt-4o",
      "llm.token_count.prompt": 10,
      "llm.token_count.completion": 5,
    };
    const times = { trace: call, startMs: base, endMs: base + 500 };
    return [
      exportSpans([{ ...times, id: "1", attributes: wrapper }]),
      exportSpans([{ ...times, id: "2", parent: "1", attributes: counts }], {
        scope: "com.anthropic.sdk.python",
      }),
    ];
  });
  const orders = <T>(list: readonly T[]): T[][] =>
    list.length < 2
      ? [[...list]]
      : list.flatMap((one) => orders(list.filter((other) => other !== one)).map((rest) => [one, ...rest]));
  for (const [place, order] of orders(told).entries()) {
    const source = await makeSource(harness);
    for (const sent of order) await source.accept(sent);
    expect(await source.messages(), `order ${place}`).toHaveLength(2);
    expect(await ledgerDifferences(harness.fixtures, source.workspace)).toEqual([]);
  }
});

test("Records many equal calls once, told by one program after the other", async () => {
  const random = numbers(9);
  const calls = Array.from({ length: 1_200 }, (_, n): Call => {
    const from = base + n * 200;
    const until = from + 900 + (n % 7);
    return { n, model: "claude-haiku-4-5", input: 1200, cached: 0, output: 10, from, until, by: [] };
  });
  const source = await makeSource(harness);
  for (const by of ["sdk", "openinference"] as const)
    for (let at = 0; at < calls.length; at += 512)
      await source.accept(inOne(calls.slice(at, at + 512).map((call) => tell(call, by, random))));
  expect(await source.messages()).toHaveLength(calls.length);
});

test.each([
  ["the same library", { scope: "langsmith" }, {}],
  ["one after another", {}, { from: base + 6_000, until: base + 11_000 }],
  ["other counts", {}, { output: 11 }],
  ["another model", {}, { model: "claude-haiku-4-5" }],
])("Records two calls that differ by %s", async (_, __, other) => {
  const random = numbers(3);
  const call: Call = {
    n: 1,
    model: "claude-sonnet-4-5",
    input: 1200,
    cached: 0,
    output: 10,
    from: base,
    until: base + 5_000,
    by: [],
  };
  const isSameLibrary = Object.keys(other).length === 0;
  const source = await makeSource(harness);
  await source.accept(tell(call, "langsmith", random));
  await source.accept(tell({ ...call, n: 2, ...other }, isSameLibrary ? "langsmith" : "sdk", random));
  expect(await source.messages()).toHaveLength(2);
});
