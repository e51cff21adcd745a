import { beforeAll, describe, expect, test } from "vitest";
import { createLocalUser } from "@/lib/access/sign-in/local/account-queries";
import { makeClient, must, someEmail, somePassword } from "@/tests/helpers/auth-server";
import { withHarness } from "@/tests/helpers/harness";
import { withPages } from "@/tests/helpers/service";

const harness = withHarness({ settings: { ...withPages, TRUSTED_PROXIES: "127.0.0.0/8" } });
/** Two hops away, behind a trusted proxy. */
const fromAfar = { "x-forwarded-for": "203.0.113.9" };

let base: string;
let email: string;
let slug: string;

beforeAll(async () => {
  base = harness.services[0]?.baseUrl ?? "";
  email = someEmail("page");
  slug = email.slice(0, email.indexOf("@"));
  await createLocalUser(harness.fixtures.sql, { email, password: somePassword, displayName: "Ada" });
});

const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(base + path, { headers, redirect: "manual" });

/** A session cookie as a browser keeps it. `aged`: its access token is about to expire. */
async function sessionCookie({ aged = false } = {}): Promise<string> {
  const { session } = must(await makeClient(base).auth.signInWithPassword({ email, password: somePassword }));
  if (!session) throw new Error("There is no session.");
  const { user: _, ...tokens } = session;
  const kept = aged ? { ...tokens, expires_at: Math.floor(Date.now() / 1000) - 60 } : tokens;
  return `outlay-session=base64-${Buffer.from(JSON.stringify(kept)).toString("base64url")}`;
}

test("Answers 400 to a call of a server action that cannot be read", async () => {
  const [, action = ""] =
    /&quot;id&quot;:&quot;([0-9a-f]{40,})/.exec(await (await get("/sign-in")).text()) ?? [];
  expect(action).not.toBe("");
  const call = async (type: string, body: string) => {
    const headers = { "next-action": action, "content-type": type, origin: base };
    return (await fetch(`${base}/sign-in`, { method: "POST", headers, body })).status;
  };
  const text = "text/plain;charset=UTF-8";
  expect(await call(text, "not JSON")).toBe(400);
  expect(await call(text, "[]")).toBe(400);
  expect(await call(text, '[{},"not a form"]')).toBe(400);
  expect(await call("multipart/form-data; boundary=x", "no parts")).toBe(400);
  expect(await call("multipart/form-data", "no boundary")).toBe(400);
  const readable = new FormData();
  readable.append("0", '[{},"$K1"]');
  const headers = { "next-action": action, origin: base };
  const answer = await fetch(`${base}/sign-in`, { method: "POST", headers, body: readable });
  expect([answer.status, await answer.text()]).toEqual([
    200,
    expect.stringContaining("email: must not be empty"),
  ]);
});

describe("A workspace's page", () => {
  test("Redirects visitors to sign in and brings them back", async () => {
    const answer = await get(`/${slug}`);
    expect([answer.status, answer.headers.get("location")]).toEqual([307, `/sign-in?next=%2F${slug}`]);
  });

  test("Greets its member and says how to record the first cost", async () => {
    const answer = await get(`/${slug}`, { cookie: await sessionCookie() });
    expect(answer.status).toBe(200);
    expect(answer.headers.getSetCookie()).toEqual([]);
    expect(answer.headers.get("cache-control")).toContain("no-store");
    const html = await answer.text();
    expect(html).toContain("Welcome, Ada");
    expect(html).toContain("What do you run?");
    expect(html).toContain(`/${slug}/sources/new?program=`);
    const code = await get(`/${slug}?start=code`, { cookie: await sessionCookie() });
    expect(await code.text()).toContain("/api/v1/messages");
  });

  test("Answers strangers like an address that does not exist", async () => {
    await harness.fixtures.workspace("somebody-elses");
    const cookie = await sessionCookie();
    const [hidden, missing] = [
      await get("/somebody-elses", { cookie }),
      await get("/no-such-thing", { cookie }),
    ];
    expect([hidden.status, missing.status]).toEqual([404, 404]);
    expect(await hidden.text()).not.toContain("somebody-elses</");
  });

  test("Refreshes a session that is about to expire and sends the new one to the browser", async () => {
    const cookie = await sessionCookie({ aged: true });
    const answer = await get(`/${slug}`, { cookie });
    expect(answer.status).toBe(200);
    expect(await answer.text()).toContain("Welcome, Ada");
    const [renewed] = answer.headers.getSetCookie();
    expect(renewed).toMatch(/^outlay-session=base64-.*; HttpOnly; SameSite=lax/i);
    expect(answer.headers.get("cache-control")).toContain("no-store");
    expect((await get("/api/v1/me", { cookie: renewed?.split(";")[0] ?? "" })).status).toBe(200);
  });

  test("Shows only its own month to a member of two workspaces", async () => {
    const own = await harness.fixtures.sql.query("select id from public.workspaces where slug = $1", [slug]);
    const other = await harness.fixtures.workspace("second");
    await harness.fixtures.sql.query(
      "insert into public.workspace_members (workspace_id, user_id, role) select $1, id, 'viewer' from public.profiles where email = $2",
      [other, email],
    );
    await harness.fixtures.sql.query(
      "insert into public.budgets (workspace_id, name, scope_type, amount) values ($1, 'Theirs', 'global', 40), ($2, 'Ours', 'global', 1000)",
      [other, own.rows[0].id],
    );
    const record = async (workspace: string, estimated_cost: number) => {
      const { secret } = await harness.fixtures.key(workspace);
      const message = {
        type: "usage",
        provider: "openai",
        unit_type: "requests",
        quantity: 1,
        estimated_cost,
      };
      const sent = await fetch(`${base}/api/v1/messages`, {
        method: "POST",
        headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
        body: JSON.stringify({ project: "rockets", source: "api", message }),
      });
      expect(sent.status).toBe(201);
    };
    await record(other, 41.2);
    await record(own.rows[0].id, 7.3);
    const cookie = await sessionCookie();
    const textOf = async (path: string) =>
      (await (await get(path, { cookie })).text()).replaceAll(/<[^>]*>/g, "");
    const theirs = await textOf("/second");
    expect(theirs).toContain("$41.20");
    expect(theirs).toMatch(/Theirs \(103%\)/);
    expect(theirs).not.toMatch(/Ours \(|\$7\.30|\$48\.50/);
    const ours = await textOf(`/${slug}`);
    expect(ours).toContain("$7.30");
    expect(ours).not.toMatch(/Theirs \(|\$41\.20|\$48\.50/);
  });
});

describe("The pages of the sign-in", () => {
  test("Redirect signed-in users, and never to another service", async () => {
    const cookie = await sessionCookie();
    const location = async (path: string) => (await get(path, { cookie })).headers.get("location");
    expect(await location("/sign-in")).toBe("/workspaces");
    expect(await location("/sign-in?next=/second")).toBe("/second");
    expect(await location("/sign-in?next=//evil.example")).toBe("/workspaces");
    expect(await location("/workspaces")).toBe(`/${slug}`);
  });

  test("Offer no other services where the local sign-in answers", async () => {
    for (const page of ["/sign-in", "/sign-up"])
      expect(await (await get(page)).text()).not.toContain("Continue with");
    expect((await get("/sign-in/provider?provider=github")).headers.get("location")).toBe(
      "/sign-in?next=%2Fworkspaces&problem=not-offered",
    );
  });

  test("Refuse a link's code in a browser that did not ask for it", async () => {
    const answer = await get("/callback?code=stolen&next=//evil.example");
    expect([answer.status, answer.headers.get("location")]).toEqual([303, "/sign-in?problem=browser"]);
    expect((await get("/callback?error=access_denied")).headers.get("location")).toBe(
      "/sign-in?problem=link",
    );
  });
});

test.each(["/%ff", "/%", "/acme/projects/%c3%28"])("Answer the invalid address %s with 400", async (path) => {
  expect((await get(path)).status).toBe(400);
});

describe("Choosing a new password", () => {
  /** What the page answers to a session that began with a password, and to one that began with a mailed link. */
  const open = async (cookie: string) => {
    const answer = await get("/reset/new", { cookie });
    return [answer.status, answer.headers.get("location")];
  };

  test("Is allowed after a mail's link, and not in a browser found signed in", async () => {
    expect(await open(await sessionCookie())).toEqual([307, "/reset"]);
    must(await makeClient(base).auth.resetPasswordForEmail(email));
    const { rows } = await harness.fixtures.sql.query(
      "select link from local_auth.read_outbox(20) where recipient = $1",
      [email],
    );
    const opened = await fetch(rows[0].link, { redirect: "manual" });
    const session = new URLSearchParams(new URL(opened.headers.get("location") ?? "").hash.slice(1));
    const kept = {
      access_token: session.get("access_token"),
      refresh_token: session.get("refresh_token"),
      expires_at: Number(session.get("expires_at")),
      expires_in: 3600,
      token_type: "bearer",
    };
    const cookie = `outlay-session=base64-${Buffer.from(JSON.stringify(kept)).toString("base64url")}`;
    expect(await open(cookie)).toEqual([200, null]);
    expect(await (await get("/reset/new", { cookie })).text()).toContain("signed out everywhere else");
  });
});

describe("The outbox", () => {
  /** Follows a link to the outbox. @returns the cookie that it sets, if any */
  const open = async (path: string) => {
    const answer = await get(path);
    expect([answer.status, answer.headers.get("location")]).toEqual([303, "/outbox"]);
    return answer.headers.get("set-cookie")?.split(";", 1)[0] ?? "";
  };
  /** The status of the outbox, and whether it shows a link that signs somebody in. */
  const read = async (headers: Record<string, string>) => {
    const answer = await get("/outbox", headers);
    return [answer.status, (await answer.text()).includes("/auth/v1/verify?token=")];
  };

  test("Opens by the link that the start printed, wherever the caller is", async () => {
    must(await makeClient(base).auth.resetPasswordForEmail(email));
    await expect.poll(() => harness.services[0]?.said.join("\n")).toContain("Reference:");
    const link = /\/outbox\/open\?token=\S+/.exec(harness.services[0]?.said.join("\n") ?? "")?.[0] ?? "";
    const cookie = await open(link);
    expect(await read({ cookie, ...fromAfar })).toEqual([200, true]);
    expect(await (await get("/reset", { cookie })).text()).toContain('href="/outbox"');
  });

  test("Is closed to everybody else, also on this machine, where a proxy could forward strangers", async () => {
    expect(await open("/outbox/open?token=a-guess")).toBe("");
    expect(await open("/outbox/open")).toBe("");
    for (const headers of [{}, fromAfar, { cookie: "outlay-operator=" }, { cookie: "outlay-operator=guess" }])
      expect(await read(headers)).toEqual([404, false]);
    const reset = await (await get("/reset")).text();
    expect(reset).not.toContain('href="/outbox"');
    expect(reset).toContain("at the link that it printed");
  });
});
