import { describe, expect, test } from "vitest";
import { liteLlmCall, makeGateway, prompt } from "@/tests/helpers/gateways";
import { chatCall, exportSpans } from "@/tests/helpers/otlp";
import { withSharedHarness } from "@/tests/helpers/shared-harness";

const harness = withSharedHarness();

/** What a source was refused: codes with counts. They are stored about once a second. */
const refusalsOf = async (keyId: string): Promise<string[]> => {
  const { rows } = await harness.fixtures.sql.query(
    "select code, refused_count::int as count from public.source_refusals where api_key_id = $1",
    [keyId],
  );
  return rows.map(({ code, count }) => `${code} ${count}`);
};

const tokens = { cache_read_tokens: 1000, input_tokens: 200, output_tokens: 34 };

describe("LiteLLM's calls are recorded once, with LiteLLM's cost,", () => {
  test.each([
    ["json_array", (calls: unknown[]) => JSON.stringify(calls)],
    ["ndjson", (calls: unknown[]) => calls.map((call) => JSON.stringify(call)).join("\n")],
    ["single", ([call]: unknown[]) => JSON.stringify(call)],
  ])("in the format %s, sent twice", async (_, write) => {
    const gateway = await makeGateway(harness);
    const body = write([liteLlmCall()]);
    const first = await gateway.deliver("litellm", body);
    expect([first.status, first.body.recorded, first.body.results[0].replayed]).toEqual([200, 1, false]);
    const second = await gateway.deliver("litellm", body);
    expect(second.body).toMatchObject({
      recorded: 1,
      refused: 0,
      results: [{ status: 201, replayed: true, id: first.body.results[0].id }],
    });
    expect(await gateway.recorded()).toEqual(tokens);
    expect(await gateway.total()).toBe("0.0001254");
    expect(await gateway.messages()).toMatchObject([
      {
        project: "checkout",
        feature: "search",
        provider: "openai",
        model: "gpt-4o-mini",
        source: "api",
        type: "usage",
        cost_status: "client",
      },
    ]);
  });

  test("Twice within one delivery, and beside another one", async () => {
    const gateway = await makeGateway(harness);
    const call = liteLlmCall();
    const { body } = await gateway.deliver("litellm", [call, call, liteLlmCall()]);
    expect(body.results.map(({ replayed }: { replayed: boolean }) => replayed)).toEqual([false, true, false]);
    expect(await gateway.recorded()).toEqual({
      cache_read_tokens: 2000,
      input_tokens: 400,
      output_tokens: 68,
    });
  });

  test.each(["the gateway first", "the agent first"])(
    "And the same response told by an agent, %s",
    async (order) => {
      const gateway = await makeGateway(harness);
      const call = liteLlmCall();
      const told = exportSpans([{ id: "1", attributes: { ...chatCall, "gen_ai.response.id": call.id } }]);
      const tell = [() => gateway.deliver("litellm", [call]), () => gateway.accept(told)];
      for (const one of order === "the agent first" ? tell.toReversed() : tell) await one();
      expect(await gateway.messages()).toHaveLength(1);
    },
  );

  test("An image, which is billed without tokens", async () => {
    const gateway = await makeGateway(harness);
    const image = {
      prompt_tokens: 0,
      completion_tokens: 0,
      response_cost: 0.04,
      call_type: "aimage_generation",
    };
    const call = liteLlmCall({
      ...image,
      model: "dall-e-3",
      metadata: { requester_metadata: { project: "art" } },
    });
    await gateway.deliver("litellm", [call]);
    expect(await gateway.recorded()).toEqual({ requests: 1 });
    expect(await gateway.total()).toBe("0.04");
  });
});

describe("What LiteLLM could not price is priced by our list or unpriced, never 0:", () => {
  const own = "0.00012540000";
  test.each([
    ["it says why it failed", { response_cost: 0, response_cost_failure_debug_info: { error_str: "x" } }],
    ["it failed and wrote a figure all the same", { response_cost: 7, response_cost_failure_debug_info: {} }],
    ["null", { response_cost: null }],
    ["0 with tokens", { response_cost: 0 }],
  ])("%s", async (_, changes) => {
    const gateway = await makeGateway(harness);
    await gateway.deliver("litellm", [
      liteLlmCall(changes),
      liteLlmCall({ ...changes, model: "house-model-nobody-prices" }),
    ]);
    const costs = await gateway.costs();
    expect(new Set(costs.map(({ cost_status }) => cost_status))).toEqual(new Set(["priced", "unpriced"]));
    expect(Number(await gateway.total())).toBe(Number(own));
  });

  test("A hit of LiteLLM's cache is free", async () => {
    const gateway = await makeGateway(harness);
    await gateway.deliver("litellm", [liteLlmCall({ cache_hit: true, response_cost: 0 })]);
    expect(await gateway.total()).toBe("0");
    expect(await gateway.messages()).toMatchObject([{ cost_status: "client" }]);
  });
});

describe("The project and the person of a call", () => {
  const about = (metadata: object, others: object = {}) =>
    liteLlmCall({
      ...others,
      metadata: { ...liteLlmCall().metadata, requester_metadata: null, ...metadata },
    });
  test.each([
    ["spend_logs_metadata", about({ spend_logs_metadata: { project: "Billing App" } }), "billing-app"],
    ["a tag", about({}, { request_tags: ["project:tagged"] }), "tagged"],
    ["the team", about({ user_api_key_team_alias: "Growth" }), "growth"],
    ["nothing", about({}), "litellm"],
  ])("The project from %s", async (_, call, project) => {
    const gateway = await makeGateway(harness);
    await gateway.deliver("litellm", [call]);
    expect(await gateway.messages()).toMatchObject([{ project }]);
  });

  test("The key's one project before the team", async () => {
    const gateway = await makeGateway(harness, { conditions: { project_slugs: ["billing"] } });
    await gateway.deliver("litellm", [about({ user_api_key_team_alias: "Growth" })]);
    expect(await gateway.messages()).toMatchObject([{ project: "billing" }]);
  });
});

describe("A delivery is answered with a verdict for each call:", () => {
  test("A failed call records nothing, and one with usage counts", async () => {
    const gateway = await makeGateway(harness);
    const failed = { status: "failure", response_cost: 0 };
    const { body, status } = await gateway.deliver("litellm", [
      liteLlmCall({ ...failed, prompt_tokens: 0, completion_tokens: 0, metadata: { usage_object: null } }),
      liteLlmCall(failed),
    ]);
    expect([status, body.recorded, body.ignored, body.refused]).toEqual([200, 1, 1, 0]);
    expect(body.results[0]).toEqual({ index: 0, status: 200, ignored: expect.any(String) });
    expect(await gateway.messages()).toHaveLength(1);
  });

  test("What the key's conditions refuse is named, and the others count", async () => {
    const gateway = await makeGateway(harness, { conditions: { features: ["search"] } });
    const other = liteLlmCall({ metadata: { requester_metadata: { project: "checkout", feature: "chat" } } });
    const { body, status } = await gateway.deliver("litellm", [
      other,
      liteLlmCall(),
      liteLlmCall({ prompt_tokens: "many" }),
    ]);
    expect([status, body.recorded, body.refused]).toEqual([200, 1, 2]);
    expect(body.results).toMatchObject([
      { index: 0, status: 403, error: "feature_not_allowed" },
      { index: 1, status: 201 },
      { index: 2, status: 400, error: "validation_failed", issues: [{ path: "2.prompt_tokens" }] },
    ]);
    expect(await gateway.recorded()).toEqual(tokens);
    await expect
      .poll(async () => (await refusalsOf(gateway.id)).sort())
      .toEqual(["feature_not_allowed 1", "validation_failed 1"]);
  });

  test.each([
    ["ten and a half tokens", "10.5", "must be a whole number of tokens"],
    ["fewer tokens than none", "-1", "must not be negative"],
    ["a number beyond all", "1e400", "must be a number of tokens"],
    ["more than one call can use", "1e13", "is more than one call can use"],
  ])(
    "A call with %s is refused by itself, with the field, and the others count",
    async (_, written, message) => {
      const gateway = await makeGateway(harness);
      const paths = ["prompt_tokens", "metadata.usage_object.prompt_tokens_details.cached_tokens"];
      const wrong = [
        liteLlmCall({ prompt_tokens: "?" }),
        liteLlmCall({
          metadata: { usage_object: { prompt_tokens_details: { cached_tokens: "?" } } },
        }),
      ];
      const { status, body } = await gateway.deliver(
        "litellm",
        JSON.stringify([liteLlmCall(), ...wrong, liteLlmCall()]).replaceAll('"?"', written),
      );
      expect([status, body.recorded, body.refused]).toEqual([200, 2, 2]);
      expect(body.results).toMatchObject([
        { status: 201 },
        ...paths.map((path, index) => ({
          status: 400,
          error: "validation_failed",
          issues: [{ path: `${index + 1}.${path}`, message }],
        })),
        { status: 201 },
      ]);
      expect(await gateway.messages()).toHaveLength(2);
    },
  );

  test("A delivery of which nothing can be read is refused, and noted for its source", async () => {
    const gateway = await makeGateway(harness);
    const { status } = await gateway.deliver("litellm", [liteLlmCall({ prompt_tokens: "many" })]);
    expect(status).toBe(400);
    await gateway.deliver("litellm", "not JSON");
    await expect.poll(() => refusalsOf(gateway.id)).toHaveLength(2);
  });

  test("A key without log_usage is refused for each call, and is not asked to send again", async () => {
    const gateway = await makeGateway(harness, { permissions: ["read_summaries"] });
    const { body, status } = await gateway.deliver("litellm", [liteLlmCall(), liteLlmCall()]);
    expect([status, body.recorded, body.refused]).toEqual([200, 0, 2]);
    expect(body.results[0]).toMatchObject({ status: 403, error: "permission_denied" });
    expect(await gateway.messages()).toEqual([]);
  });

  test("A delivery counts once against the key's rate, and 429 says when to send again", async () => {
    const gateway = await makeGateway(harness, { rate_limit_rpm: 1 });
    const first = await gateway.deliver("litellm", [liteLlmCall(), liteLlmCall(), liteLlmCall()]);
    expect([first.status, first.body.recorded]).toEqual([200, 3]);
    const second = await gateway.deliver("litellm", [liteLlmCall()]);
    expect(second.status).toBe(429);
    expect(Number(second.headers.get("retry-after"))).toBeGreaterThan(0);
  });
});

describe("A malformed delivery is refused by the field's name, and changes nothing:", () => {
  test.each([
    ["no JSON", `{"id": "${prompt}`, "invalid_json", "body"],
    ["a broken line", `${JSON.stringify(liteLlmCall())}\n{"id":`, "invalid_json", "Line 2"],
    ["a list of texts", ["x"], "validation_failed", "body"],
    ["no id", { ...liteLlmCall(), id: undefined }, "validation_failed", "id"],
    ["a negative count", liteLlmCall({ completion_tokens: -1 }), "validation_failed", "completion_tokens"],
    ["a cost that is text", liteLlmCall({ response_cost: "free" }), "validation_failed", "response_cost"],
    ["milliseconds", liteLlmCall({ endTime: Date.now() }), "validation_failed", "endTime"],
    [
      "a count deep inside",
      liteLlmCall({ metadata: { usage_object: { prompt_tokens_details: { cached_tokens: "all" } } } }),
      "validation_failed",
      "metadata.usage_object.prompt_tokens_details.cached_tokens",
    ],
  ])("%s", async (_, sent, error, named) => {
    const gateway = await makeGateway(harness);
    const { status, body } = await gateway.deliver("litellm", sent);
    expect([status, body.error]).toEqual([400, error]);
    expect(body.error_description).toContain(named);
    expect(JSON.stringify(body)).not.toContain(prompt);
    expect(await gateway.messages()).toEqual([]);
  });

  test("No key, or a wrong one", async () => {
    const gateway = await makeGateway(harness);
    for (const authorization of ["", `Bearer svc_live_${"0".repeat(32)}`]) {
      const { status } = await gateway.deliver("litellm", [liteLlmCall()], { headers: { authorization } });
      expect(status).toBe(401);
    }
    expect(await gateway.messages()).toEqual([]);
  });
});

describe("OpenRouter's broadcast", () => {
  const generation = {
    ...chatCall,
    "gen_ai.request.model": "anthropic/claude-sonnet-4.5",
    "gen_ai.response.id": "gen-1763800000-Kq7Lw1Zp4Xs8Vb3N",
    "gen_ai.usage.total_cost": "0.0123",
    "gen_ai.prompt": prompt,
    "trace.metadata.project": "checkout",
  };
  const { body: broadcast } = exportSpans([{ id: "1", attributes: generation }], { service: "whatever" });

  test.each(["POST", "PUT"])("Is recorded once with OpenRouter's cost, by %s", async (method) => {
    const gateway = await makeGateway(harness);
    await gateway.deliver("openrouter", broadcast, { method });
    const { body } = await gateway.deliver("openrouter", broadcast, { method });
    expect(body).toMatchObject({ recorded: 1, refused: 0, results: [{ replayed: true }] });
    expect(await gateway.recorded()).toEqual({ input_tokens: 10, output_tokens: 5 });
    expect(await gateway.total()).toBe("0.0123");
    expect(await gateway.messages()).toMatchObject([
      {
        project: "checkout",
        provider: "openrouter",
        model: "anthropic/claude-sonnet-4.5",
        cost_status: "client",
      },
    ]);
  });

  test.each(["", "{}", '{"resourceSpans":[]}'])(
    "Answers 200 to the test of the connection with %j",
    async (sent) => {
      const gateway = await makeGateway(harness);
      const { status, body } = await gateway.deliver("openrouter", sent, {
        headers: { "x-test-connection": "true" },
      });
      expect([status, body]).toEqual([200, { recorded: 0, refused: 0, ignored: 0, results: [] }]);
      const unknown = { "x-test-connection": "true", authorization: "" };
      expect((await gateway.deliver("openrouter", sent, { headers: unknown })).status).toBe(401);
    },
  );

  test("Counts once beside LiteLLM, which called OpenRouter", async () => {
    const gateway = await makeGateway(harness);
    await gateway.deliver("litellm", [liteLlmCall({ id: generation["gen_ai.response.id"] })]);
    await gateway.deliver("openrouter", broadcast);
    expect(await gateway.messages()).toHaveLength(1);
  });

  test("Is refused where it is no export of traces", async () => {
    const gateway = await makeGateway(harness);
    const { status, body } = await gateway.deliver("openrouter", { resourceSpans: "x" });
    expect([status, body.error]).toEqual([400, "validation_failed"]);
  });
});

test("Prompts, answers and secrets of a delivery are stored nowhere", async () => {
  const gateway = await makeGateway(harness);
  await gateway.deliver("litellm", [liteLlmCall(), liteLlmCall({ model: "nobody" })]);
  const { rows } = await harness.fixtures.sql.query(
    "select row_to_json(m)::text as text from public.messages as m where workspace_id = $1",
    [gateway.workspace],
  );
  expect(rows.length).toBeGreaterThan(0);
  expect(JSON.stringify(rows)).not.toContain(prompt);
});
