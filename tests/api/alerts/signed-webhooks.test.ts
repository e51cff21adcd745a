import { describe, expect, test } from "vitest";
import { heliconeCall, makeGateway, prompt, sign } from "@/tests/helpers/gateways";
import { chatCall, exportSpans } from "@/tests/helpers/otlp";
import { withSharedHarness } from "@/tests/helpers/shared-harness";

const harness = withSharedHarness();

const signingSecret = "whk_5f1c3b0a9d8e7f6a5b4c3d2e1f0a9b8c";
const tokens = { cache_read_tokens: 1000, input_tokens: 200, output_tokens: 34 };

async function makeSigned(options = {}) {
  const gateway = await makeGateway(harness, options);
  const { status, body } = await gateway.setSecret(signingSecret);
  expect(status).toBe(200);
  const send = (call: unknown) => {
    const text = JSON.stringify(call);
    return gateway.deliverSigned(text, sign(text, signingSecret));
  };
  return { ...gateway, address: body.url as string, send };
}

describe("Helicone's webhook", () => {
  test.each(["10.5", "-1", "1e400"])("Refuses %s tokens in the answer, with the field", async (written) => {
    const gateway = await makeSigned();
    const { status, body } = await gateway.send(
      heliconeCall({
        response_body: `{"id":"c","usage":{"prompt_tokens":${written},"completion_tokens":1}}`,
      }),
    );
    expect([status, body]).toMatchObject([400, { issues: [{ path: "response_body.usage.prompt_tokens" }] }]);
    expect(await gateway.messages()).toEqual([]);
  });

  test("Is recorded once with the price list's cost, replayed or not", async () => {
    const gateway = await makeSigned();
    const call = heliconeCall();
    const first = await gateway.send(call);
    expect([first.status, first.body.recorded, first.body.results[0].replayed]).toEqual([200, 1, false]);
    const replayed = await gateway.send(call);
    expect(replayed.body.results[0]).toMatchObject({ status: 201, replayed: true });
    expect(await gateway.recorded()).toEqual(tokens);
    expect(await gateway.total()).toBe("0.0001254");
    expect(await gateway.messages()).toMatchObject([
      {
        provider: "openai",
        model: "gpt-4o-mini-2024-07-18",
        project: "helicone",
        cost_status: "priced",
        source: "api",
      },
    ]);
  });

  test("Has the address that the secret's endpoint answers, which holds no secret", async () => {
    const gateway = await makeSigned();
    expect(new URL(gateway.address).pathname).toBe("/api/v1/sources/helicone");
    expect(new URL(gateway.address).searchParams.get("key_id")).toBe(gateway.id);
    expect(gateway.address).not.toContain(gateway.secret);
    expect(gateway.address).not.toContain(signingSecret);
  });

  test.each([
    [
      "Anthropic's answer, whose input leaves out the cache",
      {
        model: "claude-sonnet-4-5",
        provider: "ANTHROPIC",
        response_body: JSON.stringify({
          id: "msg_01Kq7Lw1Zp4Xs8Vb3N9f2C",
          type: "message",
          model: "claude-sonnet-4-5",
          usage: {
            input_tokens: 200,
            cache_read_input_tokens: 1000,
            cache_creation_input_tokens: 300,
            output_tokens: 34,
          },
        }),
      },
      { cache_read_tokens: 1000, cache_write_tokens: 300, input_tokens: 200, output_tokens: 34 },
    ],
    [
      "OpenAI's Responses, whose input includes it",
      {
        response_body: JSON.stringify({
          id: "resp_0Kq7Lw1Zp4Xs8Vb3N9f2C",
          object: "response",
          model: "gpt-4o-mini",
          usage: {
            input_tokens: 1200,
            input_tokens_details: { cached_tokens: 1000 },
            output_tokens: 34,
            output_tokens_details: { reasoning_tokens: 10 },
          },
        }),
      },
      tokens,
    ],
    [
      "Gemini's answer, whose output leaves out thoughts",
      {
        model: "gemini-2.5-flash",
        provider: "GOOGLE",
        response_body: JSON.stringify({
          responseId: "Kq7Lw1Zp4Xs8Vb3N9f2C00",
          modelVersion: "gemini-2.5-flash",
          usageMetadata: {
            promptTokenCount: 1200,
            cachedContentTokenCount: 1000,
            candidatesTokenCount: 24,
            thoughtsTokenCount: 10,
          },
        }),
      },
      tokens,
    ],
    [
      "an answer that was too long, with Helicone's own counts",
      {
        response_body: "Body too large for webhook, please fetch the full request and response from Helicone",
      },
      { input_tokens: 1200, output_tokens: 34 },
    ],
  ])("Counts %s", async (_, changes, expected) => {
    const gateway = await makeSigned();
    await gateway.send(heliconeCall(changes));
    expect(await gateway.recorded()).toEqual(expected);
  });

  test.each(["first", "second"])(
    "Counts a response once that an agent tells, too, the gateway %s",
    async (order) => {
      const gateway = await makeSigned();
      const call = heliconeCall();
      const { id } = JSON.parse(call.response_body);
      const agent = () =>
        gateway.accept(exportSpans([{ id: "1", attributes: { ...chatCall, "gen_ai.response.id": id } }]));
      const tell = [() => gateway.send(call), agent];
      for (const one of order === "first" ? tell : tell.toReversed()) await one();
      expect(await gateway.messages()).toHaveLength(1);
    },
  );
});

describe("A delivery of Helicone is refused, and changes nothing, with", () => {
  const text = JSON.stringify(heliconeCall());
  const right = sign(text, signingSecret);
  test.each([
    ["no signature", text, null],
    ["an empty one", text, ""],
    ["one of another secret", text, sign(text, `${signingSecret}x`)],
    ["one of another body", `${text} `, right],
    ["one that is cut", text, right.slice(0, 62)],
    ["one that is not hex", text, "z".repeat(64)],
  ])("%s", async (_, body, signature) => {
    const gateway = await makeSigned();
    const { status } = await gateway.deliverSigned(body, signature);
    expect(status).toBe(401);
    expect(await gateway.messages()).toEqual([]);
  });

  test("The id of a key that has no secret, of no key, or of another key", async () => {
    const [gateway, without] = [await makeSigned(), await makeGateway(harness)];
    const others = [
      without.id,
      "7d0f1f9e-0d5b-4f3c-9a51-0a5a5a5a5a5a",
      "00000000-0000-4000-8000-0000000000e1",
    ];
    const answers = [];
    for (const id of others) answers.push(await gateway.deliverSigned(text, right, id));
    answers.push(await gateway.deliverSigned(text, sign(text, `${signingSecret}x`)));
    for (const { status, body } of answers)
      expect([status, body.error_description]).toEqual([401, answers[0]?.body.error_description]);
    expect(await gateway.messages()).toEqual([]);
    expect(await without.messages()).toEqual([]);
  });

  test("The API key instead of a signature", async () => {
    const gateway = await makeSigned();
    const response = await fetch(`${gateway.url}/api/v1/sources/helicone?key_id=${gateway.id}`, {
      method: "POST",
      headers: { authorization: `Bearer ${gateway.secret}`, "content-type": "application/json" },
      body: text,
    });
    expect(response.status).toBe(401);
  });

  test("The API key in the address", async () => {
    const gateway = await makeSigned();
    const { status } = await gateway.deliverSigned(text, right, `${gateway.id}&key=${gateway.secret}`);
    expect(status).toBe(400);
  });

  test("A field of another type, which is named", async () => {
    const gateway = await makeSigned();
    const { status, body } = await gateway.send(heliconeCall({ metadata: { promptTokens: "many" } }));
    expect(status).toBe(400);
    expect(body.error_description).toContain("metadata.promptTokens");
    expect(JSON.stringify(body)).not.toContain(prompt);
    expect(await gateway.messages()).toEqual([]);
  });
});

describe("The signing secret", () => {
  test("Counts no more after it was replaced, or removed", async () => {
    const gateway = await makeSigned();
    await gateway.setSecret(`${signingSecret}-2`);
    expect((await gateway.send(heliconeCall())).status).toBe(401);
    const text = JSON.stringify(heliconeCall());
    const signature = sign(text, `${signingSecret}-2`);
    expect((await gateway.deliverSigned(text, signature)).status).toBe(200);
    expect((await gateway.setSecret(undefined, "DELETE")).status).toBe(200);
    expect((await gateway.deliverSigned(text, signature)).status).toBe(401);
  });

  test("Gives no more than its API key may: conditions and revocation hold", async () => {
    const gateway = await makeSigned({ conditions: { project_slugs: ["billing", "search"] } });
    const { body } = await gateway.send(heliconeCall());
    expect(body.results).toMatchObject([{ status: 403, error: "project_not_allowed" }]);
    await harness.fixtures.sql.query("update public.api_keys set revoked_at = now() where id = $1", [
      gateway.id,
    ]);
    const revoked = await gateway.send(heliconeCall());
    expect([revoked.status, revoked.body.error]).toEqual([401, "key_revoked"]);
  });

  test("Is refused from a key without log_usage, and where it is too short", async () => {
    const reader = await makeGateway(harness, { permissions: ["read_summaries"] });
    expect((await reader.setSecret(signingSecret)).status).toBe(403);
    const { setSecret } = await makeGateway(harness);
    expect((await setSecret("short")).status).toBe(400);
  });
});
