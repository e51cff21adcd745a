import { describe, expect, test } from "vitest";
import { withHarness } from "@/tests/helpers/harness";
import { redirectUri, register } from "@/tests/helpers/oauth";

const harness = withHarness({ settings: { TRUSTED_PROXIES: "127.0.0.1" } });
const baseUrl = () => harness.services[0]?.baseUrl ?? "";
/** Registers from an address of its own, as a proxy would say it. */
const from = (address: string) => ({ "x-forwarded-for": address });

const registerTo = (redirects: unknown, more: Record<string, unknown> = {}) =>
  register(baseUrl(), { redirect_uris: redirects, ...more });

describe("Registration", () => {
  test("Creates a public client for anybody, and says so", async () => {
    const { status, body, headers } = await registerTo([redirectUri], {
      client_name: "Assistant",
      client_uri: "https://assistant.example",
      token_endpoint_auth_method: "client_secret_basic",
      grant_types: ["authorization_code", "refresh_token"],
      scope: "read_summaries",
      software_id: "whatever else it says",
    });
    expect(status).toBe(201);
    expect(headers.get("cache-control")).toBe("no-store");
    expect(body).toEqual({
      client_id: expect.stringMatching(/^svc_client_[\w-]{22}$/),
      client_id_issued_at: expect.any(Number),
      client_name: "Assistant",
      client_uri: "https://assistant.example",
      redirect_uris: [redirectUri],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: "none",
    });
  });

  test.each([
    "https://claude.ai/api/mcp/auth_callback",
    "https://chatgpt.com/connector/oauth/abc",
    "https://vscode.dev/redirect",
    "http://127.0.0.1:33418/",
    "http://localhost/callback",
    "http://[::1]:8080/callback",
    "cursor://anysphere.cursor-mcp/oauth/callback",
  ])("Accepts the redirect %s", async (redirect) => {
    expect((await registerTo([redirect])).status).toBe(201);
  });

  test.each([
    ["http to another machine", ["http://evil.example/callback"]],
    ["a script", ["javascript:alert(1)"]],
    ["data", ["data:text/html,hello"]],
    ["an app we do not know", ["evil://callback"]],
    ["another path of an app we know", ["cursor://anysphere.cursor-mcp/oauth/callback/more"]],
    ["a fragment", ["https://app.example/callback#part"]],
    ["a user", ["https://user@app.example/callback"]],
    ["one bad among good", [redirectUri, "http://evil.example"]],
    ["no address", ["callback"]],
    ["none", []],
    ["eleven", Array.from({ length: 11 }, (_, index) => `https://app.example/${index}`)],
    ["no list", redirectUri],
    ["nothing", undefined],
  ])("Refuses redirects: %s", async (_, redirects) => {
    const { status, body } = await registerTo(redirects);
    expect([status, body.error]).toEqual([400, "invalid_redirect_uri"]);
  });

  test("Refuses invalid metadata and oversized bodies", async () => {
    expect((await registerTo([redirectUri], { grant_types: ["client_credentials"] })).body.error).toBe(
      "invalid_client_metadata",
    );
    expect((await registerTo([redirectUri], { client_name: 7 })).body.error).toBe("invalid_client_metadata");
    expect((await registerTo([redirectUri], { software_id: "x".repeat(20_000) })).status).toBe(413);
  });

  test("Removes direction marks and line breaks from the name shown", async () => {
    const { body } = await registerTo([redirectUri], { client_name: "Cla\u202eude\n\u200b  Desktop" });
    expect(body.client_name).toBe("Claude Desktop");
    expect((await registerTo([redirectUri], { client_name: "\u200b" })).body.client_name).toBe(
      "A program without a name",
    );
    expect((await registerTo([redirectUri], { client_name: "n".repeat(500) })).body.client_name).toHaveLength(
      80,
    );
  });

  test("Refuses a flood from one address, and nobody else", async () => {
    const flood = await Promise.all(
      Array.from({ length: 30 }, () => register(baseUrl(), {}, from("198.51.100.7"))),
    );
    expect(flood.filter(({ status }) => status === 201)).toHaveLength(20);
    const refused = flood.find(({ status }) => status === 429);
    expect(Number(refused?.headers.get("retry-after"))).toBeGreaterThan(0);
    expect((await register(baseUrl(), {}, from("198.51.100.8"))).status).toBe(201);
  });

  test("Limits an IPv6 network like one address, and says how to do without registering", async () => {
    const answers = [];
    for (let index = 0; index < 21; index += 1)
      answers.push(await register(baseUrl(), {}, from(`2001:db8:1:2::${index.toString(16)}`)));
    expect(answers.map(({ status }) => status)).toEqual([...Array(20).fill(201), 429]);
    expect(answers.at(-1)?.body).toMatchObject({
      error: "too_many_requests",
      error_description: expect.stringMatching(/Try again in \d+ s\..*use its client_id again/),
    });
    expect((await register(baseUrl(), {}, from("2001:db8:1:3::1"))).status).toBe(201);
  });

  test("Is open to others, however many have registered", async () => {
    const refused = new Set<number>();
    for (let block = 0; block < 11; block += 1) {
      const answers = await Promise.all(
        Array.from({ length: 100 }, (_, index) => register(baseUrl(), {}, from(`192.0.${block}.${index}`))),
      );
      for (const { status } of answers) if (status !== 201) refused.add(status);
    }
    expect([...refused]).toEqual([]);
  });

  test("Accepts pages of any origin, without cookies", async () => {
    const preflight = await fetch(`${baseUrl()}/oauth/register`, {
      method: "OPTIONS",
      headers: { origin: "https://inspector.example", "access-control-request-method": "POST" },
    });
    expect(preflight.status).toBe(204);
    for (const { headers } of [preflight, await register(baseUrl())]) {
      expect(headers.get("access-control-allow-origin")).toBe("*");
      expect(headers.get("access-control-allow-credentials")).toBeNull();
    }
  });

  test("Refuses the consent form from another origin's pages", async () => {
    const { headers } = await fetch(`${baseUrl()}/oauth/consent`, {
      method: "OPTIONS",
      headers: { origin: "https://inspector.example", "access-control-request-method": "POST" },
    });
    expect(headers.get("access-control-allow-origin")).toBeNull();
  });
});

describe("Clients that no user was asked about", () => {
  const stored = (prefix: string) =>
    harness.fixtures.sql
      .query("select id from private.oauth_clients where id like $1 order by id", [`${prefix}%`])
      .then(({ rows }) => rows.map(({ id }) => String(id)));

  test("Give way to new ones, the oldest first; clients that were asked about never do", async () => {
    await harness.fixtures.sql.query("delete from private.oauth_clients");
    await harness.fixtures.sql.query(
      `insert into private.oauth_clients (id, kind, name, redirect_uris, created_at, last_asked_at)
       select 'unused_' || lpad(n::text, 4, '0'), 'registered', 'x', '{https://x.example}'::text[],
         now() - interval '10 hours' + n * interval '1 second', null
       from generate_series(0, 4999) as n
       union all
       select 'asked_' || n, 'registered', 'x', '{https://x.example}'::text[], now() - interval '20 hours', now()
       from generate_series(1, 3) as n
       union all
       select 'https://client.example/' || n, 'document', 'x', '{https://x.example}'::text[], now() - interval '20 hours', null
       from generate_series(1, 3) as n`,
    );
    for (let index = 0; index < 3; index += 1)
      expect((await register(baseUrl(), {}, from(`203.0.113.${index}`))).status).toBe(201);
    const unused = await stored("unused_");
    expect([unused.length, unused[0]]).toEqual([4_997, "unused_0003"]);
    expect([await stored("asked_"), await stored("https:")].map((each) => each.length)).toEqual([3, 3]);
    expect(await stored("svc_client_")).toHaveLength(3);
  });
});

describe("A client without a connection", () => {
  const age = (column: string, days: number, id: string) =>
    harness.fixtures.sql.query(
      `update private.oauth_clients set ${column} = now() - $1 * interval '1 day' where id = $2`,
      [days, id],
    );
  const sweep = () => harness.fixtures.sql.query("select private.sweep_oauth(1000)");
  const isKnown = async (id: string) => {
    const { rows } = await harness.fixtures.sql.query("select from private.oauth_clients where id = $1", [
      id,
    ]);
    return rows.length === 1;
  };

  test("Is deleted after a day, or 30 days after a user was last asked about it", async () => {
    const [fresh, unused, asked, old] = await Promise.all(
      [1, 2, 3, 4].map(async () => String((await register(baseUrl())).body.client_id)),
    );
    await age("created_at", 2, unused ?? "");
    for (const [id, days] of [
      [asked, 29],
      [old, 31],
    ] as const) {
      await age("created_at", 60, id ?? "");
      await age("last_asked_at", days, id ?? "");
    }
    await sweep();
    const known = await Promise.all([fresh, unused, asked, old].map((id) => isKnown(id ?? "")));
    expect(known).toEqual([true, false, true, false]);
  });
});
