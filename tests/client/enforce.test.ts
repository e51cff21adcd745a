import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import { outlayMiddleware } from "@/packages/client/src/ai-sdk";
import { wrapAnthropic } from "@/packages/client/src/anthropic";
import { BudgetExceededError, Outlay, type OutlayError } from "@/packages/client/src/index";
import { type EnforceOptions, wrapOpenAI } from "@/packages/client/src/openai";
import { apiClient } from "@/tests/helpers/client";
import { ledgerDifferences } from "@/tests/helpers/harness";
import type { KeyOptions } from "@/tests/helpers/keys";
import { withSharedHarness } from "@/tests/helpers/shared-harness";
import { newOutlay } from "./client";
import { withIntermediary } from "./intermediary";
import { withProviderMock } from "./provider-mock";
import { countEstimated, loadCalls, recordedCalls } from "./recorded-calls";

const harness = withSharedHarness({ services: 2 });
const mock = withProviderMock();
const intermediary = withIntermediary();
const openai = await loadCalls("openai-calls");
const anthropic = await loadCalls("anthropic-calls");
const ai = await loadCalls("ai-sdk-calls");

const baseUrl = (service = 0) => harness.services[service]?.baseUrl ?? "";
const chat = "a chat completion";
/** On a busy machine, a decision takes longer than the default waits. */
const patient: EnforceOptions = { waitMs: 60_000 };

let plain: object;
beforeAll(() => {
  plain = new openai.versions[7]({ apiKey: "k", baseURL: `${mock.url}/v1` });
});

/** A client of Outlay, what the key's limit says, and the calls of the provider since then. */
async function start(key: KeyOptions = {}, url = baseUrl()) {
  const started = await newOutlay(harness, url, {}, key);
  const { length } = mock.requests;
  return {
    ...started,
    called: () => mock.requests.length - length,
    limits: async () => {
      const { body } = await apiClient(baseUrl(), started.secret).get("/api/v1/limits");
      return body as {
        key: { monthly_limit: { spent_usd: number; held_usd: number } };
        budgets: Record<string, unknown>[];
      };
    },
  };
}

/** Waits until nothing is held. @returns what the key has spent, USD */
async function spentOnce({ outlay, limits }: Awaited<ReturnType<typeof start>>): Promise<number> {
  expect(await outlay.flush()).toBe(true);
  await expect.poll(async () => (await limits()).key.monthly_limit.held_usd).toBe(0);
  return (await limits()).key.monthly_limit.spent_usd;
}

/** The error with which a call fails. */
const failure = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => expect.unreachable("The call was made."),
    (error: unknown) => error,
  );

const used = (monthly_limit: string) => ({ monthly_limit });

/** What the mock's chat completions cost: gpt-4o, 400 uncached and 600 cached input tokens, 50 output tokens. */
const chatUsd = 0.00225;

test.each([1, 2])(
  "A budget for 10 calls lets 64 callers in two processes call the provider 10 times (round %i)",
  async () => {
    const started = await start(used("100"));
    const { outlay, secret, workspace, called, limits } = started;
    const other = new Outlay({ url: baseUrl(1), apiKey: secret, project: "checkout", flushIntervalMs: 20 });
    await harness.fixtures.sql.query(
      `insert into public.budgets (workspace_id, name, scope_type, amount, period, blocks)
       values ($1, 'Ten calls', 'global', $2, 'month', true)`,
      [workspace, 10 * chatUsd],
    );
    const enforce: EnforceOptions = {
      ...patient,
      estimate: () => ({ inputTokens: 400 + 300, outputTokens: 50 }),
    };
    const clients = [outlay, other].map((each) => wrapOpenAI(plain, each, { enforce }));
    const outcomes = await Promise.allSettled(
      Array.from({ length: 64 }, (_, index) => openai.calls[chat](clients[index % 2], randomUUID())),
    );
    const refusals = outcomes.flatMap((outcome) => (outcome.status === "rejected" ? outcome.reason : []));
    expect(called()).toBe(10);
    expect(refusals).toHaveLength(54);
    for (const refusal of refusals) expect(refusal).toBeInstanceOf(BudgetExceededError);
    await other.close();
    expect(await spentOnce(started)).toBe(10 * chatUsd);
    expect((await limits()).budgets).toMatchObject([{ spent_usd: 10 * chatUsd, held_usd: 0 }]);
    expect(await recordedCalls(harness, workspace)).toHaveLength(10);
    expect(await ledgerDifferences(harness.fixtures, workspace)).toEqual([]);
  },
);

test("Says what refuses, what is left, when it resets and how to ask, and the SDKs call nobody and do not try again", async () => {
  const { outlay, called, limits } = await start(used("0.001"));
  const clients = Object.values<new (options: object) => object>(openai.versions).map((Client) =>
    wrapOpenAI(new Client({ apiKey: "k", baseURL: `${mock.url}/v1` }), outlay, { enforce: patient }),
  );
  const claude = wrapAnthropic(new anthropic.Anthropic({ apiKey: "k", baseURL: mock.url }), outlay, {
    enforce: patient,
  });
  const refusals = await Promise.all(
    [
      ...clients.flatMap((client) => [
        openai.calls[chat](client, randomUUID()),
        openai.calls["a streamed response"](client, randomUUID()),
      ]),
      anthropic.calls["a message"](claude, randomUUID()),
      anthropic.calls["a streamed message"](claude, randomUUID()),
    ].map(failure),
  );
  expect(refusals).toHaveLength(8);
  for (const refusal of refusals) {
    expect(refusal).toBeInstanceOf(BudgetExceededError);
    expect(refusal).toMatchObject({ code: "monthly_limit_exceeded", limitUsd: 0.001, remainingUsd: 0.001 });
    const { resetsAt, howToAsk, budget } = refusal as BudgetExceededError;
    expect([new Date(resetsAt ?? "").getUTCDate(), budget]).toEqual([1, undefined]);
    expect(howToAsk?.page).toMatch(/^http.*\/workspaces\/ask\?key=/);
  }
  expect(called()).toBe(0);
  expect((await limits()).key.monthly_limit).toMatchObject({ spent_usd: 0, held_usd: 0 });
});

test("Holds the budget of a user against that user alone", async () => {
  const { outlay, workspace, called } = await start();
  await harness.fixtures.sql.query(
    `insert into public.budgets (workspace_id, name, scope_type, scope_value, amount, period, blocks)
     values ($1, 'Anna', 'user', 'anna', 0.001, 'day', true)`,
    [workspace],
  );
  const of = (user: string) => wrapOpenAI(plain, outlay, { user, enforce: patient });
  expect(await failure(openai.calls[chat](of("anna"), randomUUID()))).toMatchObject({
    code: "budget_exceeded",
    budget: { name: "Anna" },
  });
  await openai.calls[chat](of("ben"), randomUUID());
  expect(called()).toBe(1);
});

/** What is recorded of a stream that stopped before its usage was told: the input as reserved, the output as it arrived. */
const estimated = {
  provider: "openai",
  model: expect.any(String),
  feature: null,
  lines: { input_tokens: expect.any(Number), output_tokens: expect.any(Number) },
};

describe("Nothing stays held", () => {
  const wrapped = async () => {
    const started = await start(used("100"));
    const client = new openai.versions[7]({ apiKey: "k", baseURL: `${mock.url}/v1`, maxRetries: 0 });
    return { ...started, client: wrapOpenAI(client, started.outlay, { enforce: patient }) };
  };

  test("after calls that are recorded", async () => {
    const { client, ...started } = await wrapped();
    await openai.calls[chat](client, randomUUID());
    await openai.calls["a streamed chat completion"](client, randomUUID());
    await openai.embed(client, randomUUID());
    expect(await spentOnce(started)).toBeCloseTo(2 * chatUsd + 8 * 0.02e-6, 12);
  });

  test.each([
    ["that fail", "broken", false, []],
    ["whose stream breaks off, of which an estimate is recorded", "cut", true, [estimated]],
    ["whose stream ends with an error", "failing", true, []],
  ])("after calls %s", async (_, model, stream, recorded) => {
    const { client, ...started } = await wrapped();
    // The catalogue has no price for the mock's models.
    const enforce = { ...patient, estimate: () => ({ usd: 1 }) };
    expect(
      await openai.failingCall(wrapOpenAI(client, started.outlay, { enforce }), randomUUID(), model, stream),
    ).toBeDefined();
    // Usage without a price costs nothing until it has one.
    expect(await spentOnce(started)).toBe(0);
    expect(await recordedCalls(harness, started.workspace)).toEqual(recorded);
    expect(await countEstimated(harness, started.workspace)).toBe(recorded.length);
    expect(started.called()).toBe(1);
  });

  test.each(["stopEarly", "abortedCall", "cancelledBody"])(
    "after a stream that the caller stops, of which an estimate is recorded (%s)",
    async (stop) => {
      const { client, ...started } = await wrapped();
      const enforce = { ...patient, estimate: () => ({ usd: 1 }) };
      await openai[stop](wrapOpenAI(client, started.outlay, { enforce }), randomUUID());
      expect(await spentOnce(started)).toBe(0);
      // It stops at the first event, which has no text yet.
      const lines = { input_tokens: expect.any(Number) };
      expect(await recordedCalls(harness, started.workspace)).toEqual([{ ...estimated, lines }]);
    },
  );

  test("after a stream of Anthropic that the caller stops, of which the input is recorded", async () => {
    const started = await start(used("100"));
    const client = new anthropic.Anthropic({ apiKey: "k", baseURL: mock.url });
    const enforce = { ...patient, estimate: () => ({ usd: 1 }) };
    await anthropic.stopEarly(wrapAnthropic(client, started.outlay, { enforce }), randomUUID());
    await spentOnce(started);
    expect(await recordedCalls(harness, started.workspace)).toHaveLength(1);
  });

  test("after a call that an exporter has told first: it counts once", async () => {
    const started = await start(used("100"));
    const { outlay, secret } = started;
    const user = randomUUID();
    const { id } = await openai.calls[chat](plain, user);
    await apiClient(baseUrl(), secret).post({
      project: "checkout",
      source: "api",
      idempotency_key: `otel:response:${id}`,
      message: { type: "usage", provider: "openai", unit_type: "requests", quantity: 1, estimated_cost: 0.5 },
    });
    await openai.calls[chat](wrapOpenAI(plain, outlay, { enforce: patient }), user);
    expect(await spentOnce(started)).toBe(0.5);
    expect(started.errors).toEqual([]);
  });

  test("after a response that is made in the background, which holds until it is there", async () => {
    const { client, ...started } = await wrapped();
    const created = await openai.createInBackground(client, randomUUID());
    expect((await started.limits()).key.monthly_limit.held_usd).toBeGreaterThan(0);
    for (let poll = 0; poll < 2; poll += 1) await openai.retrieve(client, created.id);
    expect(await spentOnce(started)).toBe(chatUsd);
  });
});

describe.each(["5", "6", "7"])("The AI SDK %s", (number) => {
  const version = ai.versions[number];
  const models = (outlay: Outlay, enforce: EnforceOptions) =>
    ai.modelsOf(version, mock.url, (model: unknown) =>
      version.ai.wrapLanguageModel({ model, middleware: outlayMiddleware(outlay, { enforce }) }),
    );

  test("gets the refusal before the call, for texts and streams", async () => {
    const { outlay, called } = await start(used("0.001"));
    const model = models(outlay, patient)["OpenAI's responses"]();
    expect(await failure(ai.generate(version, model, "Hello"))).toBeInstanceOf(BudgetExceededError);
    expect(await ai.streamError(version, model, "Hello")).toBeInstanceOf(BudgetExceededError);
    expect(called()).toBe(0);
  });

  test("settles what it calls, and releases what fails or stops", async () => {
    const started = await start(used("100"));
    const of = models(started.outlay, patient);
    await ai.generate(version, of["OpenAI's responses"](), randomUUID());
    await ai.stream(version, of["OpenAI's chat completions"](), randomUUID());
    expect(await spentOnce(started)).toBe(2 * chatUsd);
    const guessed = models(started.outlay, { ...patient, estimate: () => ({ usd: 1 }) })[
      "Anthropic's messages"
    ];
    await failure(ai.generate(version, guessed("broken"), "Hello"));
    await ai.stream(version, guessed("cut"), "Hello").catch(() => {});
    await ai.stopEarly(version, guessed("endless"), "Hello");
    expect(await spentOnce(started)).toBe(2 * chatUsd);
    expect(await recordedCalls(harness, started.workspace)).toHaveLength(4);
    expect(await countEstimated(harness, started.workspace)).toBe(2);
  });
});

describe("Where the service gives no decision", () => {
  const nowhere = "http://127.0.0.1:9";
  const callAll = (client: object, count: number) =>
    Promise.allSettled(Array.from({ length: count }, () => openai.calls[chat](client, randomUUID())));

  test("calls are made, as many as the bound allows, and the rest fail", async () => {
    const { outlay, called } = await start({}, nowhere);
    const told: OutlayError[] = [];
    const enforce: EnforceOptions = {
      waitMs: 50,
      maxOpenCalls: 10,
      onOpenCall: (error) => told.push(error),
    };
    const client = wrapOpenAI(plain, outlay, { enforce });
    const outcomes = [...(await callAll(client, 32)), ...(await callAll(client, 8))];
    const errors = outcomes.flatMap((outcome) => (outcome.status === "rejected" ? outcome.reason : []));
    expect([called(), told.length, errors.length]).toEqual([10, 10, 30]);
    for (const error of errors) expect(error).toMatchObject({ name: "OutlayError", code: "unreachable" });
    expect(outlay.counts.queued).toBe(10);
  });

  test("no call is made, if that is chosen", async () => {
    const { outlay, called } = await start({}, nowhere);
    const enforce = { whenUnreachable: "closed", waitMs: 50 } as const;
    const outcomes = await callAll(wrapOpenAI(plain, outlay, { enforce }), 4);
    expect(outcomes.map(({ status }) => status)).toEqual(Array(4).fill("rejected"));
    expect(called()).toBe(0);
  });

  test("a call waits no longer than it is told, and what is reserved later is released", async () => {
    intermediary.target = baseUrl();
    const started = await start(used("100"), intermediary.url);
    let answer = () => {};
    intermediary.fates = [new Promise<void>((resolve) => (answer = resolve))];
    const enforce: EnforceOptions = { waitMs: 500, onOpenCall: () => {} };
    await openai.calls[chat](wrapOpenAI(plain, started.outlay, { enforce }), randomUUID());
    const held = async () => (await started.limits()).key.monthly_limit.held_usd;
    await expect.poll(held).toBeGreaterThan(0);
    answer();
    expect(await spentOnce(started)).toBe(chatUsd);
  });

  test("a lost answer holds once: the same reservation is asked for again", async () => {
    intermediary.target = baseUrl();
    const started = await start(used("100"), intermediary.url);
    intermediary.fates = ["lose", { status: 503 }];
    const { id } = await started.outlay.reserve(
      { type: "usage", provider: "openai", unit_type: "requests", quantity: 1, estimated_cost: 1 },
      { waitMs: 60_000 },
    );
    expect((await started.limits()).key.monthly_limit.held_usd).toBe(1);
    await started.outlay.release(id);
    expect(await spentOnce(started)).toBe(0);
  });

  test("what the service refuses for another reason fails, with its words", async () => {
    const { outlay, called } = await start({ permissions: ["read_summaries"] });
    const denied = await failure(
      openai.calls[chat](wrapOpenAI(plain, outlay, { enforce: true }), randomUUID()),
    );
    expect(denied).toMatchObject({ name: "OutlayError", code: "permission_denied", status: 403 });
    const other = await start();
    const client = wrapOpenAI(plain, other.outlay, { enforce: patient });
    // The catalogue has no price for the mock's model.
    const unpriced = await openai.failingCall(client, randomUUID(), "broken", false);
    expect(unpriced).toMatchObject({ name: "OutlayError", status: 400 });
    expect(called()).toBe(0);
  });
});
