import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import {
  callTool,
  consent,
  makePkce,
  openBrowser,
  redirectUri,
  refresh,
  registerClient,
} from "@/tests/helpers/oauth";
import { refusalOf, withSignIn } from "@/tests/helpers/sign-in";

const world = withSignIn();
const { baseUrl, link, exchange, getCode } = world;

describe("An authorization code", () => {
  test("Works once; a second exchange is refused and revokes what the first gave", async () => {
    const code = await getCode();
    const first = await exchange(code);
    expect(first.status).toBe(200);
    expect((await callTool(baseUrl(), first.body.access_token)).status).toBe(200);
    expect(refusalOf(await exchange(code))).toBe("400 invalid_grant");
    expect((await callTool(baseUrl(), first.body.access_token)).status).toBe(401);
    expect(refusalOf(await refresh(baseUrl(), world.clientId, first.body.refresh_token))).toBe(
      "400 invalid_grant",
    );
  });

  test("Is exchanged by one of two at once, whose tokens are then revoked", async () => {
    const code = await getCode();
    const answers = await Promise.all([exchange(code), exchange(code)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400]);
    const token = answers.find(({ status }) => status === 200)?.body.access_token;
    expect((await callTool(baseUrl(), token)).status).toBe(401);
  });

  test.each([
    ["another verifier", { code_verifier: makePkce().verifier }, "400 invalid_grant"],
    ["a verifier that is none", { code_verifier: "short" }, "400 invalid_grant"],
    ["no verifier", { code_verifier: undefined }, "400 invalid_request"],
    ["another redirect", { redirect_uri: `${redirectUri}/other` }, "400 invalid_grant"],
    [
      "another of our addresses' resource",
      { resource: "https://evil.example/api/mcp" },
      "400 invalid_target",
    ],
    ["no client", { client_id: undefined }, "401 invalid_client"],
    ["a client that does not exist", { client_id: "svc_client_nobody" }, "401 invalid_client"],
    ["another grant type", { grant_type: "password" }, "400 unsupported_grant_type"],
  ])("Is not exchanged with %s", async (_, changes, refusal) => {
    expect(refusalOf(await exchange(await getCode(), changes))).toBe(refusal);
  });

  test("Is refused to another client, and used up by the attempt", async () => {
    const code = await getCode();
    const stranger = await registerClient(baseUrl());
    expect(refusalOf(await exchange(code, { client_id: stranger }))).toBe("400 invalid_grant");
    expect(refusalOf(await exchange(code))).toBe("400 invalid_grant");
  });

  test("Works for a minute", async () => {
    const code = await getCode();
    const { rowCount } = await world.harness.fixtures.sql.query(
      "update private.oauth_authorizations set expires_at = now() where client_id = $1 and expires_at <= now() + interval '60 seconds'",
      [world.clientId],
    );
    expect(rowCount).toBe(1);
    expect(refusalOf(await exchange(code))).toBe("400 invalid_grant");
  });

  test("Gives nothing to a user who left the workspace before the exchange", async () => {
    const guest = await openBrowser(baseUrl());
    const id = await world.harness.fixtures.workspace(`w-${randomUUID()}`);
    const { rows } = await world.harness.fixtures.sql.query(
      `with joined as (insert into public.workspace_members (workspace_id, user_id, role) values ($1, $2, 'member'))
       select slug from public.workspaces where id = $1`,
      [id, guest.id],
    );
    const code = await consent(guest, link(), { workspace: rows[0].slug });
    await world.harness.fixtures.sql.query(
      "delete from public.workspace_members where user_id = $1 and workspace_id = $2",
      [guest.id, id],
    );
    expect(refusalOf(await exchange(code))).toBe("400 invalid_grant");
  });

  test("Is stored only as a hash, like every token", async () => {
    const code = await getCode();
    const { body } = await exchange(code);
    const { rows } = await world.harness.fixtures.sql.query(`
      select to_jsonb(a)::text as row from private.oauth_authorizations as a
      union all select to_jsonb(t)::text from private.oauth_access_tokens as t
      union all select to_jsonb(t)::text from private.oauth_refresh_tokens as t`);
    const stored = rows.map(({ row }) => row).join();
    for (const secret of [code, body.access_token, body.refresh_token])
      expect(stored).not.toContain(secret.slice(-40));
  });
});
