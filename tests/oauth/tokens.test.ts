import { describe, expect, test } from "vitest";
import { apiClient } from "@/tests/helpers/client";
import { callTool, connect, postForm, refresh, registerClient } from "@/tests/helpers/oauth";
import { startService } from "@/tests/helpers/service";
import { refusalOf, withSignIn } from "@/tests/helpers/sign-in";

const world = withSignIn();
const { baseUrl } = world;

describe("A refresh token", () => {
  const ageUse = (seconds: number) =>
    world.harness.fixtures.sql.query(
      `update private.oauth_refresh_tokens as t set used_at = t.used_at - $2 * interval '1 second'
       from private.oauth_grants as g, public.connections as c
       where g.id = t.grant_id and c.id = g.connection_id and c.client_id = $1`,
      [world.clientId, seconds],
    );

  test("Gives another pair within a minute of its use, to several at once", async () => {
    const pair = await connect(world.browser, { workspace: world.workspace }, world.clientId);
    const answers = await Promise.all([1, 2, 3].map(() => refresh(baseUrl(), world.clientId, pair.refresh)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(new Set(answers.map(({ body }) => body.refresh_token)).size).toBe(3);
    await ageUse(50);
    expect((await refresh(baseUrl(), world.clientId, pair.refresh)).status).toBe(200);
    for (const { body } of answers) expect((await callTool(baseUrl(), body.access_token)).status).toBe(200);
  });

  test("Ends everything from the same consent when reused later", async () => {
    const pair = await connect(world.browser, { workspace: world.workspace }, world.clientId);
    const { body } = await refresh(baseUrl(), world.clientId, pair.refresh);
    await ageUse(61);
    expect(refusalOf(await refresh(baseUrl(), world.clientId, pair.refresh))).toBe("400 invalid_grant");
    expect(refusalOf(await refresh(baseUrl(), world.clientId, body.refresh_token))).toBe("400 invalid_grant");
    for (const token of [pair.access, body.access_token])
      expect((await callTool(baseUrl(), token)).status).toBe(401);
  });

  test("Ends only its own sign-in", async () => {
    const first = await connect(world.browser, { workspace: world.workspace }, world.clientId);
    const second = await connect(world.browser, { workspace: world.workspace }, world.clientId);
    await refresh(baseUrl(), world.clientId, first.refresh);
    await ageUse(61);
    await refresh(baseUrl(), world.clientId, first.refresh);
    expect((await callTool(baseUrl(), first.access)).status).toBe(401);
    expect((await callTool(baseUrl(), second.access)).status).toBe(200);
  });

  test("Is refused to another client, and stays valid for its own", async () => {
    const pair = await connect(world.browser, { workspace: world.workspace }, world.clientId);
    const stranger = await registerClient(baseUrl());
    expect(refusalOf(await refresh(baseUrl(), stranger, pair.refresh))).toBe("400 invalid_grant");
    await postForm(baseUrl(), "/oauth/revoke", { token: pair.refresh, client_id: stranger });
    expect((await refresh(baseUrl(), world.clientId, pair.refresh)).status).toBe(200);
  });

  test("Is refused when refreshed in a loop, without affecting other sign-ins", async () => {
    const first = await connect(world.browser, { workspace: world.workspace }, world.clientId);
    const second = await connect(world.browser, { workspace: world.workspace }, world.clientId);
    let token = first.refresh;
    for (let count = 0; count < 120; count += 1) {
      const { status, body } = await refresh(baseUrl(), world.clientId, token);
      expect([count, status]).toEqual([count, 200]);
      token = body.refresh_token;
    }
    const refused = await refresh(baseUrl(), world.clientId, token);
    expect([refused.status, refused.body]).toEqual([
      429,
      expect.objectContaining({
        error: "too_many_requests",
        error_description: expect.any(String),
        limit: 120,
      }),
    ]);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    expect((await refresh(baseUrl(), world.clientId, second.refresh)).status).toBe(200);
    // What was refused used nothing up: the token is good once the hour is over.
    await world.harness.fixtures.sql.query(
      `update private.throttle_windows
       set moments = array(select moment - interval '1 hour' from unnest(moments) as moment)`,
    );
    expect((await refresh(baseUrl(), world.clientId, token)).status).toBe(200);
  });

  test("Is remembered among the 500 latest of its sign-in, where reuse is detected", async () => {
    const pair = await connect(world.browser, { workspace: world.workspace }, world.clientId);
    const grant = `select g.id from private.oauth_grants as g join public.connections as c on c.id = g.connection_id
      where c.client_id = $1`;
    await world.harness.fixtures.sql.query(
      `insert into private.oauth_refresh_tokens (hash, grant_id, expires_at, used_at)
       select sha256(number::text::bytea), (${grant}), now() + interval '1 day', now() - interval '1 hour'
       from generate_series(1, 600) as number`,
      [world.clientId],
    );
    const { body } = await refresh(baseUrl(), world.clientId, pair.refresh);
    const { rows } = await world.harness.fixtures.sql.query(
      `select count(*)::int from private.oauth_refresh_tokens where grant_id = (${grant})`,
      [world.clientId],
    );
    expect(rows[0].count).toBe(500);
    await ageUse(61);
    expect(refusalOf(await refresh(baseUrl(), world.clientId, pair.refresh))).toBe("400 invalid_grant");
    expect(refusalOf(await refresh(baseUrl(), world.clientId, body.refresh_token))).toBe("400 invalid_grant");
  });

  test("Cannot call tools, and an access token cannot refresh", async () => {
    const pair = await connect(world.browser, { workspace: world.workspace }, world.clientId);
    expect((await callTool(baseUrl(), pair.refresh)).status).toBe(401);
    expect(refusalOf(await refresh(baseUrl(), world.clientId, pair.access))).toBe("400 invalid_grant");
  });
});

describe("An access token", () => {
  test("Works for the agent tools only", async () => {
    const { access } = await connect(world.browser, { workspace: world.workspace }, world.clientId);
    expect((await callTool(baseUrl(), access)).status).toBe(200);
    const client = apiClient(baseUrl(), access);
    for (const path of [
      "/api/v1/summary/month",
      "/api/v1/budgets/status",
      "/api/v1/me",
      "/api/v1/projects/checkout/spend",
    ]) {
      const { status, body } = await client.get(path);
      expect([path, status, body.error]).toEqual([path, 401, "invalid_credentials"]);
    }
    const { status, body } = await client.post({});
    expect([status, body.error_description]).toEqual([
      401,
      expect.stringContaining("accepted only by the agent tools' endpoint"),
    ]);
  });

  test("Expires after an hour", async () => {
    const { access } = await connect(world.browser, { workspace: world.workspace }, world.clientId);
    await world.harness.fixtures.sql.query(
      "update private.oauth_access_tokens set expires_at = expires_at - interval '1 hour'",
    );
    const { status, challenge: invitation } = await callTool(baseUrl(), access);
    expect([status, invitation]).toEqual([401, expect.stringContaining('error="invalid_token"')]);
  });

  test("Of another address is refused, though it is in the database", async () => {
    const { access } = await connect(world.browser, { workspace: world.workspace }, world.clientId);
    const elsewhere = await startService(world.harness.database, { BASE_URL: "https://elsewhere.example" });
    expect((await callTool(elsewhere.baseUrl, access)).status).toBe(401);
    await elsewhere.stop();
    expect((await callTool(baseUrl(), access)).status).toBe(200);
  });

  test("Without a permission is told every scope to request, and the next consent adds it", async () => {
    const { access } = await connect(
      world.browser,
      { workspace: world.workspace, permissions: ["log_usage"] },
      world.clientId,
    );
    const expense = { project: "checkout", vendor: "Figma", amount: 12 };
    const refused = await callTool(baseUrl(), access, "add_expense", expense);
    expect(refused.status).toBe(403);
    expect(refused.challenge).toContain('error="insufficient_scope"');
    expect(refused.challenge).toContain('scope="log_usage add_expenses read_summaries"');
    const permissions = ["log_usage", "add_expenses"];
    const stronger = await connect(
      world.browser,
      { workspace: world.workspace, permissions },
      world.clientId,
      /scope="([^"]+)"/.exec(refused.challenge)?.[1],
    );
    expect(stronger.scope).toBe("log_usage add_expenses read_summaries");
    expect(
      (await callTool(baseUrl(), stronger.access, "add_expense", expense)).body.result.isError,
    ).toBeFalsy();
    const { rows } = await world.harness.fixtures.sql.query(
      "select count(*)::int from public.connections where client_id = $1",
      [world.clientId],
    );
    expect(rows[0].count).toBe(1);
  });
});
