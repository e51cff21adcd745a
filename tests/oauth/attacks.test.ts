import { randomUUID } from "node:crypto";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { apiClient } from "@/tests/helpers/client";
import { withHarness } from "@/tests/helpers/harness";
import {
  allowing,
  authorizeUrl,
  type Browser,
  callTool,
  connect,
  consent,
  makePkce,
  openBrowser,
  openPage,
  postForm,
  redirectUri,
  refresh,
  registerClient,
  sendForm,
} from "@/tests/helpers/oauth";

const harness = withHarness();
const baseUrl = () => harness.services[0]?.baseUrl ?? "";

let browser: Browser;
let other: Browser;
let workspace: string;
let clientId: string;
const { verifier, challenge } = makePkce();

const slugOf = async ({ token }: Browser) => {
  const { body } = await apiClient(baseUrl(), token).get("/api/v1/me");
  return (body.workspaces as { slug: string }[])[0]?.slug ?? "";
};

beforeAll(async () => {
  [browser, other] = await Promise.all([openBrowser(baseUrl()), openBrowser(baseUrl())]);
  workspace = await slugOf(browser);
});
beforeEach(async () => {
  clientId = await registerClient(baseUrl());
});

const link = (changes: Record<string, string | undefined> = {}) =>
  authorizeUrl(baseUrl(), clientId, challenge, changes);
const exchange = (code: string, changes: Record<string, string | undefined> = {}) =>
  postForm(baseUrl(), "/oauth/token", {
    grant_type: "authorization_code",
    code,
    client_id: clientId,
    redirect_uri: redirectUri,
    code_verifier: verifier,
    resource: `${baseUrl()}/api/mcp`,
    ...changes,
  });
const getCode = () => consent(browser, link(), { workspace });
const refusalOf = ({ status, body }: { status: number; body: { error?: string } }) =>
  `${status} ${body.error}`;

describe("a code", () => {
  test("is good once: the second exchange is refused and takes back what the first gave", async () => {
    const code = await getCode();
    const first = await exchange(code);
    expect(first.status).toBe(200);
    expect((await callTool(baseUrl(), first.body.access_token)).status).toBe(200);
    expect(refusalOf(await exchange(code))).toBe("400 invalid_grant");
    expect((await callTool(baseUrl(), first.body.access_token)).status).toBe(401);
    expect(refusalOf(await refresh(baseUrl(), clientId, first.body.refresh_token))).toBe("400 invalid_grant");
  });

  test("is exchanged by one of two who come at the same moment, and in the end by nobody", async () => {
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
  ])("is not exchanged with %s", async (_, changes, refusal) => {
    expect(refusalOf(await exchange(await getCode(), changes))).toBe(refusal);
  });

  test("is not exchanged by another client, and is used up by the attempt", async () => {
    const code = await getCode();
    const stranger = await registerClient(baseUrl());
    expect(refusalOf(await exchange(code, { client_id: stranger }))).toBe("400 invalid_grant");
    expect(refusalOf(await exchange(code))).toBe("400 invalid_grant");
  });

  test("is good for a minute", async () => {
    const code = await getCode();
    const { rowCount } = await harness.fixtures.sql.query(
      "update private.oauth_authorizations set expires_at = now() where client_id = $1 and expires_at <= now() + interval '60 seconds'",
      [clientId],
    );
    expect(rowCount).toBe(1);
    expect(refusalOf(await exchange(code))).toBe("400 invalid_grant");
  });

  test("gives nothing to somebody who left the workspace before it was exchanged", async () => {
    const guest = await openBrowser(baseUrl());
    const id = await harness.fixtures.workspace(`w-${randomUUID()}`);
    const { rows } = await harness.fixtures.sql.query(
      `with joined as (insert into public.workspace_members (workspace_id, user_id, role) values ($1, $2, 'member'))
       select slug from public.workspaces where id = $1`,
      [id, guest.id],
    );
    const code = await consent(guest, link(), { workspace: rows[0].slug });
    await harness.fixtures.sql.query(
      "delete from public.workspace_members where user_id = $1 and workspace_id = $2",
      [guest.id, id],
    );
    expect(refusalOf(await exchange(code))).toBe("400 invalid_grant");
  });

  test("is stored, like every token, as a hash alone", async () => {
    const code = await getCode();
    const { body } = await exchange(code);
    const { rows } = await harness.fixtures.sql.query(`
      select to_jsonb(a)::text as row from private.oauth_authorizations as a
      union all select to_jsonb(t)::text from private.oauth_access_tokens as t
      union all select to_jsonb(t)::text from private.oauth_refresh_tokens as t`);
    const stored = rows.map(({ row }) => row).join();
    for (const secret of [code, body.access_token, body.refresh_token])
      expect(stored).not.toContain(secret.slice(-40));
  });
});

describe("a redirect", () => {
  test.each([
    ["another path", "http://127.0.0.1:33418/other"],
    ["a longer path", "http://127.0.0.1:33418/callback/more"],
    ["a query", "http://127.0.0.1:33418/callback?more"],
    ["a fragment", "http://127.0.0.1:33418/callback#part"],
    ["another name of this machine", "http://localhost:33418/callback"],
    ["another host", "http://evil.example/callback"],
    ["a host that begins the same", "http://127.0.0.1.evil.example/callback"],
    ["a user", "http://127.0.0.1:33418@evil.example/callback"],
    ["https", "https://127.0.0.1:33418/callback"],
    ["a script", "javascript:alert(1)"],
    ["none", undefined],
  ])("with %s is refused to the user's face, and nobody is sent there", async (_, redirect) => {
    const page = await openPage(browser, link({ redirect_uri: redirect }));
    expect(page.location).toBeNull();
    expect(page.nonce).toBeUndefined();
    expect(page.html).toContain("This program cannot be connected");
  });

  test("to a program on this machine may have another port", async () => {
    const elsewhere = "http://127.0.0.1:51000/callback";
    const code = await consent(browser, link({ redirect_uri: elsewhere }), { workspace });
    expect(refusalOf(await exchange(code))).toBe("400 invalid_grant");
    const again = await consent(browser, link({ redirect_uri: elsewhere }), { workspace });
    expect((await exchange(again, { redirect_uri: elsewhere })).status).toBe(200);
  });

  test("to a web address must be the same to the letter, the port with it", async () => {
    clientId = await registerClient(baseUrl(), { redirect_uris: ["https://app.example/callback"] });
    expect(
      (await openPage(browser, link({ redirect_uri: "https://app.example/callback" }))).nonce,
    ).toBeDefined();
    for (const redirect of [
      "https://app.example:8443/callback",
      "https://app.example/callback/",
      "https://APP.example/callback",
    ])
      expect((await openPage(browser, link({ redirect_uri: redirect }))).nonce).toBeUndefined();
  });
});

describe("a request", () => {
  test.each([
    ["a challenge in the clear", { code_challenge_method: "plain" }, "invalid_request"],
    ["no method, which means plain", { code_challenge_method: undefined }, "invalid_request"],
    ["no challenge", { code_challenge: undefined }, "invalid_request"],
    ["a foreign resource", { resource: "https://evil.example/api/mcp" }, "invalid_target"],
    ["the implicit flow", { response_type: "token" }, "unsupported_response_type"],
    ["no question asked", { prompt: "none" }, "consent_required"],
  ])("with %s is sent back refused", async (_, changes, error) => {
    const { location } = await openPage(browser, link(changes));
    expect(new URL(location ?? "").searchParams.get("error")).toBe(error);
  });

  test("is sent back to the web by the user alone: no link of ours leads to an address that anybody can register", async () => {
    clientId = await registerClient(baseUrl(), { redirect_uris: ["https://phish.example/callback"] });
    const page = await openPage(
      browser,
      link({ redirect_uri: "https://phish.example/callback", response_type: "bogus" }),
    );
    expect([page.status, page.location, page.nonce]).toEqual([200, null, undefined]);
    expect(page.html).toContain("https://phish.example/callback?error=unsupported_response_type");
  });

  test("of a client that nobody registered is refused to the user's face", async () => {
    clientId = "svc_client_nobody";
    const page = await openPage(browser, link());
    expect([page.location, page.nonce]).toEqual([null, undefined]);
  });

  test("with a parameter twice is refused", async () => {
    const { location } = await openPage(browser, `${link()}&resource=https%3A%2F%2Fevil.example`);
    expect(new URL(location ?? "").searchParams.get("error")).toBe("invalid_request");
    const page = await openPage(browser, `${link()}&redirect_uri=https%3A%2F%2Fevil.example`);
    expect([page.location, page.nonce]).toEqual([null, undefined]);
  });
});

describe("the consent form", () => {
  const nonceOf = async (by = browser) => (await openPage(by, link())).nonce;
  const stale = "/oauth/problem?why=stale";

  test("cannot be sent by another session, another user, or nobody", async () => {
    const nonce = await nonceOf();
    expect((await sendForm(other, allowing(nonce, { workspace: await slugOf(other) }))).location).toBe(stale);
    expect((await sendForm({ ...browser, cookie: "" }, allowing(nonce, { workspace }))).status).toBe(401);
    // It is still there for whom it was meant.
    expect((await sendForm(browser, allowing(nonce, { workspace }))).location).toContain("code=");
  });

  test("cannot be made up, sent twice, or answered both ways", async () => {
    expect((await sendForm(browser, allowing("made-up", { workspace }))).location).toBe(stale);
    const nonce = await nonceOf();
    const form = allowing(nonce, { workspace });
    const answers = await Promise.all([sendForm(browser, form), sendForm(browser, form)]);
    expect(answers.filter(({ location }) => location.includes("code="))).toHaveLength(1);
    expect((await sendForm(browser, form)).location).toBe(stale);
    const denied = await nonceOf();
    const refusal = new URL((await sendForm(browser, [["nonce", denied ?? ""]])).location);
    expect(refusal.searchParams.get("error")).toBe("access_denied");
    expect((await sendForm(browser, allowing(denied, { workspace }))).location).toBe(stale);
  });

  test("cannot change what was asked: the client, its redirect, the state and the resource are not in it", async () => {
    const nonce = await nonceOf();
    const { location } = await sendForm(browser, [
      ["client_id", "svc_client_other"],
      ["redirect_uri", "https://evil.example"],
      ["state", "another"],
      ["resource", "https://evil.example"],
      ...allowing(nonce, { workspace }),
    ]);
    const answered = new URL(location);
    expect(answered.origin + answered.pathname).toBe(redirectUri);
    expect(answered.searchParams.get("state")).toBe("a state");
  });

  test("cannot be sent by another site with the user's cookies", async () => {
    const nonce = await nonceOf();
    const form = allowing(nonce, { workspace });
    for (const headers of [
      { "sec-fetch-site": "cross-site" },
      { "sec-fetch-site": "same-site" },
      { origin: "https://evil.example" },
      {},
    ] as Record<string, string>[]) {
      const { status, body } = await sendForm(browser, form, headers);
      expect([status, JSON.parse(body).error]).toEqual([403, "origin_not_allowed"]);
    }
  });

  test("cannot be framed", async () => {
    const { headers } = await openPage(browser, link());
    expect(headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
    expect(headers.get("x-frame-options")).toBe("DENY");
    expect(headers.get("cache-control")).toContain("no-store");
  });

  test("gives nothing that is not the user's to give: no stranger's workspace or project, no made-up permission or limit", async () => {
    const choices = [
      { workspace: await slugOf(other) },
      { workspace: "no-such-workspace" },
      { workspace, project: "no-such-project" },
      { workspace, permissions: [] },
      { workspace, permissions: ["everything"] },
      { workspace, monthlyLimit: "-1" },
      { workspace, monthlyLimit: "1e3" },
    ];
    for (const choice of choices) {
      const { location } = await sendForm(browser, allowing(await nonceOf(), choice));
      expect([choice, location]).toEqual([choice, "/oauth/problem?why=choice"]);
    }
  });

  test("is over after ten minutes", async () => {
    const nonce = await nonceOf();
    const { rowCount } = await harness.fixtures.sql.query(
      `update private.oauth_authorizations set expires_at = now()
       where client_id = $1 and expires_at between now() + interval '9 minutes' and now() + interval '10 minutes'`,
      [clientId],
    );
    expect(rowCount).toBe(1);
    expect((await sendForm(browser, allowing(nonce, { workspace }))).location).toBe(stale);
  });
});

describe("a refresh token", () => {
  const ageUse = (seconds: number) =>
    harness.fixtures.sql.query(
      `update private.oauth_refresh_tokens as t set used_at = t.used_at - $2 * interval '1 second'
       from private.oauth_grants as g, public.connections as c
       where g.id = t.grant_id and c.id = g.connection_id and c.client_id = $1`,
      [clientId, seconds],
    );

  test("gives another pair within a minute of its use, to several at once", async () => {
    const pair = await connect(browser, { workspace }, clientId);
    const answers = await Promise.all([1, 2, 3].map(() => refresh(baseUrl(), clientId, pair.refresh)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(new Set(answers.map(({ body }) => body.refresh_token)).size).toBe(3);
    await ageUse(50);
    expect((await refresh(baseUrl(), clientId, pair.refresh)).status).toBe(200);
    for (const { body } of answers) expect((await callTool(baseUrl(), body.access_token)).status).toBe(200);
  });

  test("that comes back later ends everything that came of the same consent", async () => {
    const pair = await connect(browser, { workspace }, clientId);
    const { body } = await refresh(baseUrl(), clientId, pair.refresh);
    await ageUse(61);
    expect(refusalOf(await refresh(baseUrl(), clientId, pair.refresh))).toBe("400 invalid_grant");
    expect(refusalOf(await refresh(baseUrl(), clientId, body.refresh_token))).toBe("400 invalid_grant");
    for (const token of [pair.access, body.access_token])
      expect((await callTool(baseUrl(), token)).status).toBe(401);
  });

  test("of one sign-in ends no other's", async () => {
    const first = await connect(browser, { workspace }, clientId);
    const second = await connect(browser, { workspace }, clientId);
    await refresh(baseUrl(), clientId, first.refresh);
    await ageUse(61);
    await refresh(baseUrl(), clientId, first.refresh);
    expect((await callTool(baseUrl(), first.access)).status).toBe(401);
    expect((await callTool(baseUrl(), second.access)).status).toBe(200);
  });

  test("is worth nothing to another client, and stays with its own", async () => {
    const pair = await connect(browser, { workspace }, clientId);
    const stranger = await registerClient(baseUrl());
    expect(refusalOf(await refresh(baseUrl(), stranger, pair.refresh))).toBe("400 invalid_grant");
    await postForm(baseUrl(), "/oauth/revoke", { token: pair.refresh, client_id: stranger });
    expect((await refresh(baseUrl(), clientId, pair.refresh)).status).toBe(200);
  });

  test("opens no tool, and an access token gets no other", async () => {
    const pair = await connect(browser, { workspace }, clientId);
    expect((await callTool(baseUrl(), pair.refresh)).status).toBe(401);
    expect(refusalOf(await refresh(baseUrl(), clientId, pair.access))).toBe("400 invalid_grant");
  });
});

describe("an access token", () => {
  test("opens the agent tools and nothing else", async () => {
    const { access } = await connect(browser, { workspace }, clientId);
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
      expect.stringContaining("agent tools' endpoint alone"),
    ]);
  });

  test("is over after an hour", async () => {
    const { access } = await connect(browser, { workspace }, clientId);
    await harness.fixtures.sql.query(
      "update private.oauth_access_tokens set expires_at = expires_at - interval '1 hour'",
    );
    const { status, challenge: invitation } = await callTool(baseUrl(), access);
    expect([status, invitation]).toEqual([401, expect.stringContaining('error="invalid_token"')]);
  });

  test("of another address is refused, though the database knows it", async () => {
    const { access } = await connect(browser, { workspace }, clientId);
    const elsewhere = await harness.start({ BASE_URL: "https://elsewhere.example" });
    expect((await callTool(elsewhere.baseUrl, access)).status).toBe(401);
    expect((await callTool(baseUrl(), access)).status).toBe(200);
  });

  test("that lacks a permission is told every scope to ask for, and the next consent adds it", async () => {
    const { access } = await connect(browser, { workspace, permissions: ["log_usage"] }, clientId);
    const expense = { project: "checkout", vendor: "Figma", amount: 12 };
    const refused = await callTool(baseUrl(), access, "add_expense", expense);
    expect(refused.status).toBe(403);
    expect(refused.challenge).toContain('error="insufficient_scope"');
    expect(refused.challenge).toContain('scope="log_usage add_expenses read_summaries"');
    const permissions = ["log_usage", "add_expenses"];
    const stronger = await connect(browser, { workspace, permissions }, clientId);
    expect(stronger.scope).toBe("log_usage add_expenses read_summaries");
    expect(
      (await callTool(baseUrl(), stronger.access, "add_expense", expense)).body.result.isError,
    ).toBeFalsy();
    const { rows } = await harness.fixtures.sql.query(
      "select count(*)::int from public.connections where client_id = $1",
      [clientId],
    );
    expect(rows[0].count).toBe(1);
  });
});
