import { describe, expect, test } from "vitest";
import { apiClient } from "@/tests/helpers/client";
import { withHarness } from "@/tests/helpers/harness";
import { exportSpans } from "@/tests/helpers/otlp";
import { makeTeam } from "@/tests/helpers/team";
import { anthropicCall, telemetryAccounts } from "@/tests/helpers/telemetry-accounts";

// One service and one simulator, which really sends spans to the service's own address.
const harness = withHarness({ services: 0 });
const { withAccount, sealing } = telemetryAccounts(harness);
const errorOf = ({ status, body }: { status: number; body: Record<string, unknown> }) =>
  `${status} ${body.error_description}`;

describe("At Anthropic", () => {
  test("is registered by one request, its test arrives, and each call is recorded once, also where an SDK tells it", async () => {
    const made = await withAccount();
    expect(await made.read()).toMatchObject({ state: "none", source_id: null });
    expect(await made.register({ project: "checkout" })).toMatchObject({ problem: null });
    await made.becomes("receiving");
    const [held, ...others] = made.destinations.held;
    expect(others).toEqual([]);
    expect(held).toMatchObject({
      url: `${harness.services[0]?.baseUrl}/api/otlp`,
      settings: { content_mode: "metadata_only" },
    });
    expect(await made.keys()).toEqual([
      {
        ...{ name: "Claude platform", permissions: ["log_usage"], is_revoked: false },
        // Its calls have been made by the time they are told.
        on_limit: "record",
        source_settings: { program: "claude-platform", default_project: "checkout" },
      },
    ]);

    expect(
      await made.destinations.tell("anthropic", [{ id: "1", trace: "a1", attributes: anthropicCall }]),
    ).toEqual([null]);
    const sdk = await harness.fixtures.key(made.workspace);
    const told = exportSpans([{ id: "2", trace: "b2", attributes: anthropicCall }], {
      scope: "com.anthropic.sdk.typescript",
    });
    const answer = await apiClient(harness.services[0]?.baseUrl ?? "", sdk.secret).call(
      "POST",
      "/api/otlp/v1/traces",
      told.body,
    );
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    expect(await made.recorded()).toMatchObject([
      { provider: "anthropic", model: "claude-sonnet-4-5", lines: { input_tokens: 1000, output_tokens: 34 } },
    ]);
  });

  test("shows a refusal in its own words, leaves no key that works, and can be registered then", async () => {
    const made = await withAccount();
    made.destinations.refusal = "Telemetry destinations are not enabled for this organization.";
    expect(await made.register()).toMatchObject({
      state: "refused",
      problem: "It answers 403: Telemetry destinations are not enabled for this organization.",
      source_id: null,
    });
    expect((await made.keys()).map(({ is_revoked: isRevoked }) => isRevoked)).toEqual([true]);
    made.destinations.refusal = "";
    await made.register();
    await made.becomes("receiving");
    expect(made.destinations.held).toHaveLength(1);
    expect(errorOf(await made.admin.call("POST", `${made.path}/telemetry`, {}))).toMatch(
      /^409 Anthropic is registered already/,
    );
    expect((await made.keys()).map(({ is_revoked: isRevoked }) => isRevoked)).toEqual([true, false]);
  });

  test("shows its own limit of ten destinations", async () => {
    const made = await withAccount();
    for (let index = 0; index < 10; index += 1)
      made.destinations.add({
        ...{ provider: "anthropic", name: null, url: "https://a.example", headers: {}, workspace: null },
        settings: {},
      });
    expect(await made.register()).toMatchObject({
      state: "refused",
      problem: expect.stringContaining("at most 10"),
    });
  });

  test("shows that the test is awaited, that deliveries fail, that it was disabled there, and that it is gone", async () => {
    const made = await withAccount();
    made.destinations.losesTests = true;
    expect(await made.register()).toMatchObject({ state: "test_awaited", received_at: null });
    const [held] = made.destinations.held;
    if (!held) throw new Error("Nothing is registered.");
    const { authorization } = held.headers;
    held.headers.authorization = "Bearer svc_live_wrong";
    made.destinations.losesTests = false;
    expect((await made.check()).body.telemetry).toMatchObject({
      state: "failing",
      problem: "Its test did not arrive: HTTP error (status 401)",
    });
    held.headers.authorization = String(authorization);
    await made.check();
    await made.becomes("receiving");

    held.disabled = "sustained_failure";
    // The first pull of its costs may not have ended.
    const pull = async () => (await made.admin.call("POST", `${made.path}/pull`, {})).status;
    await expect.poll(pull, { timeout: 10_000 }).toBe(202);
    await made.becomes("disabled");
    expect((await made.read())?.problem).toContain("sustained_failure");
    made.destinations.remove(held);
    expect((await made.check()).body.telemetry).toMatchObject({ state: "gone" });
  });

  test("ends with the registration on both sides, and the audit log has who did it", async () => {
    const made = await withAccount();
    await made.register();
    const [held] = made.destinations.held;
    if (!held) throw new Error("Nothing is registered.");
    made.destinations.refusal = "The key may not do that.";
    expect(errorOf(await made.end())).toBe(
      "409 Anthropic did not do it. It answers 403: The key may not do that.",
    );
    expect((await made.keys()).map(({ is_revoked: isRevoked }) => isRevoked)).toEqual([false]);
    made.destinations.refusal = "";
    expect((await made.end()).body.telemetry).toMatchObject({ state: "none" });
    expect(made.destinations.held).toEqual([]);
    expect((await made.keys()).map(({ is_revoked: isRevoked }) => isRevoked)).toEqual([true]);
    expect(await made.destinations.send(held, [])).toBe("HTTP error (status 401)");
    expect(await made.actions()).toEqual([
      "provider_telemetry.created by a user",
      "provider_telemetry.changed by a user",
      "provider_telemetry.deleted by a user",
    ]);
  });

  test("ends with the account on both sides; where the provider refuses, the destination can be left", async () => {
    const made = await withAccount();
    await made.register();
    made.organization.refusal = "This key was revoked.";
    expect(errorOf(await made.remove())).toContain("This key was revoked.");
    expect(await made.read()).not.toBeNull();
    expect((await made.remove("?destination=leave")).status).toBe(200);
    expect((await made.keys()).map(({ is_revoked: isRevoked }) => isRevoked)).toEqual([true]);
    const [left] = made.destinations.held;
    expect(left && (await made.destinations.send(left, []))).toBe("HTTP error (status 401)");

    const other = await withAccount();
    await other.register();
    expect((await other.remove()).status).toBe(200);
    expect([other.destinations.held, (await other.keys())[0]?.is_revoked]).toEqual([[], true]);
  });

  test("removes what an interrupted attempt has left, by its name, when it ends and when it is registered again", async () => {
    const made = await withAccount();
    /** Registers, as if how that ended had not been stored. */
    const interrupt = async (state: "registering" | "failed") => {
      await made.register();
      await harness.fixtures.sql.query(
        "update public.provider_telemetry set state = $2, destinations = '[]', created_at = now() - interval '3 minutes' where workspace_id = $1",
        [made.workspace, state],
      );
      expect(await made.read()).toMatchObject({ state: "failed" });
      expect(made.destinations.held).toHaveLength(1);
    };
    for (const state of ["registering", "failed"] as const) {
      await interrupt(state);
      expect((await made.end()).body.telemetry).toMatchObject({ state: "none" });
      expect(made.destinations.held).toEqual([]);
    }
    await interrupt("registering");
    await made.register();
    await made.becomes("receiving");
    expect(made.destinations.held).toHaveLength(1);
    expect((await made.keys()).map(({ is_revoked: isRevoked }) => isRevoked)).toEqual([
      ...[true, true, true, false],
    ]);
  });

  test("never shows the key's secret, not even where the provider's refusal repeats it", async () => {
    const made = await withAccount();
    const words = "the header {headers} is not allowed";
    made.destinations.refusal = words;
    const refused = await made.register();
    expect(refused?.problem).toContain("is not allowed");
    expect(refused?.problem).not.toContain("svc_live_");
  });
});

describe("At OpenRouter", () => {
  const generation = {
    "gen_ai.operation.name": "chat",
    "gen_ai.request.model": "openai/gpt-4o",
    "gen_ai.response.id": "gen-1764321234-AbCdEfGhIjKlMnOpQrSt",
    "gen_ai.usage.input_tokens": 1000,
    "gen_ai.usage.output_tokens": 34,
    "gen_ai.usage.total_cost": "0.0123",
  };

  test("is registered in every workspace, with Broadcast turned on, and records the billed cost once", async () => {
    const made = await withAccount("openrouter");
    expect(await made.register()).toMatchObject({ state: "registered", problem: null });
    expect(
      made.destinations.held.map(({ workspace, url, settings }) => ({ workspace, url, settings })),
    ).toEqual(
      ["ws_1", "ws_2"].map((workspace) => ({
        workspace,
        url: `${harness.services[0]?.baseUrl}/api/otlp/v1/traces`,
        settings: {
          ...{ privacy_mode: true, sampling_rate: 1, broadcast_generation_cost: true },
          regions: ["global", "europe", "us"],
        },
      })),
    );
    expect(made.organization.limits.things.map(({ broadcasts }) => broadcasts)).toEqual([true, true]);
    const [held] = made.destinations.held;
    if (!held) throw new Error("Nothing is registered.");
    const spans = [{ id: "1", trace: "a1", attributes: generation }];
    expect([await made.destinations.send(held, spans), await made.destinations.send(held, spans)]).toEqual([
      null,
      null,
    ]);
    expect(await made.recorded()).toMatchObject([{ provider: "openrouter", usd: "0.0123" }]);
    await made.becomes("receiving");

    made.organization.limits.things.push({ kind: "workspace", id: "ws_3", name: "Later" });
    expect((await made.check()).body.telemetry).toMatchObject({
      state: "gone",
      problem: "OpenRouter has no destination of ours in Later.",
    });
    expect((await made.end()).body.telemetry).toMatchObject({ state: "none" });
    expect(made.destinations.held).toEqual([]);
    // Broadcast was on in the second workspace before.
    expect(made.organization.limits.things.map(({ broadcasts }) => broadcasts)).toEqual([
      false,
      true,
      undefined,
    ]);
  });

  test("leaves nothing in one workspace where another has no place for it", async () => {
    const made = await withAccount("openrouter");
    for (let index = 0; index < 5; index += 1)
      made.destinations.add({
        ...{
          provider: "openrouter",
          name: "other",
          url: "https://a.example",
          headers: {},
          workspace: "ws_2",
        },
        settings: {},
      });
    expect(await made.register()).toMatchObject({
      state: "refused",
      problem: "It answers 409: A maximum of 5 destinations per type is allowed in a workspace.",
    });
    expect(made.destinations.held.every(({ name }) => name === "other")).toBe(true);
  });
});

test("A provider that sends no telemetry cannot be registered", async () => {
  const made = await withAccount("openai");
  expect(await made.read()).toBeNull();
  expect(errorOf(await made.admin.call("POST", `${made.path}/telemetry`, {}))).toMatch(
    /^409 OpenAI sends no telemetry/,
  );
});

test("An account of which nothing is registered is removed as before, and has nothing to check", async () => {
  const made = await withAccount();
  expect(errorOf(await made.check())).toBe("409 Anthropic is not registered. Register it first.");
  expect((await made.end()).body.telemetry).toMatchObject({ state: "none" });
  expect((await made.remove()).status).toBe(200);
  expect(await made.read()).toBeUndefined();
});

test("Only admins register, check and end, and a stranger finds nothing", async () => {
  const made = await withAccount();
  await made.register();
  const stranger = await makeTeam(harness);
  for (const user of [made.users.member, made.users.viewer, stranger.users.owner]) {
    const expected = user === stranger.users.owner ? 404 : 403;
    expect((await user.call("POST", `${made.path}/telemetry`, {})).status).toBe(expected);
    expect((await user.call("POST", `${made.path}/telemetry/check`)).status).toBe(expected);
    expect((await user.call("DELETE", `${made.path}/telemetry`)).status).toBe(expected);
  }
  expect(made.destinations.held).toHaveLength(1);
});

test("A service without a public https address says what to do, and asks nobody", async () => {
  const made = await withAccount("anthropic", [
    await harness.start({ ...sealing, BASE_URL: "https://outlay.internal" }),
  ]);
  expect(await made.read()).toMatchObject({
    state: "unreachable",
    problem: expect.stringContaining("BASE_URL"),
  });
  expect(errorOf(await made.admin.call("POST", `${made.path}/telemetry`, {}))).toMatch(
    /^409 The provider cannot reach this service: its address is https:\/\/outlay.internal/,
  );
  expect(await made.keys()).toEqual([]);
});
