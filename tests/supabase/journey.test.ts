import { randomUUID } from "node:crypto";
import { decodeProtectedHeader } from "jose";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { makeClient, must, someEmail, somePassword } from "@/tests/helpers/auth-server";
import { apiClient, costMessage } from "@/tests/helpers/client";
import { copyTemplate, type TestDatabase } from "@/tests/helpers/cluster";
import { ledgerDifferences } from "@/tests/helpers/harness";
import { projectMailsTo, type TestProject } from "@/tests/helpers/hosted-sign-in";
import { Fixtures } from "@/tests/helpers/keys";
import { type Service, startService } from "@/tests/helpers/service";
import { startProject } from "./project";

describe.each(["ES256", "HS256"] as const)("With a project that signs tokens with %s", (signing) => {
  let database: TestDatabase;
  let project: TestProject & { stop(): Promise<void> };
  let service: Service;
  let fixtures: Fixtures;

  beforeAll(async () => {
    const { hosted, ...cluster } = inject("cluster");
    if (!hosted) throw new Error("Run this by `npm run test:supabase`.");
    database = await copyTemplate({ ...cluster, url: hosted.pooledUrl });
    project = await startProject(hosted, database, { signing });
    service = await startService({ ...database, project });
    fixtures = new Fixtures(database.adminUrl);
  });
  afterAll(async () => {
    await service?.stop();
    await project?.stop();
    await fixtures?.close();
    await database?.drop();
  });

  /** Signs up, confirms the address by the mail's link and signs in with the password. */
  async function arrive() {
    const email = someEmail();
    const { auth } = makeClient(project.url, project.publishableKey, { flowType: "pkce" });
    const back = `${service.baseUrl}/callback?next=%2Fworkspaces`;
    const signedUp = must(
      await auth.signUp({
        email,
        password: somePassword,
        options: { emailRedirectTo: back, data: { display_name: "Ada" } },
      }),
    );
    expect(signedUp.session, "nobody is signed in before the address is confirmed").toBeNull();
    const refused = await auth.signInWithPassword({ email, password: somePassword });
    expect(refused.error?.code).toBe("email_not_confirmed");

    const [mail] = await projectMailsTo(project, email);
    const opened = await fetch(mail?.link ?? "", { redirect: "manual" });
    const target = new URL(opened.headers.get("location") ?? "");
    expect(`${target.origin}${target.pathname}?next=${target.searchParams.get("next")}`).toBe(
      `${service.baseUrl}/callback?next=/workspaces`,
    );
    const { session } = must(await auth.exchangeCodeForSession(target.searchParams.get("code") ?? ""));
    expect(session.user.email).toBe(email);

    const again = must(await auth.signInWithPassword({ email, password: somePassword }));
    const token = again.session.access_token;
    return { email, auth, token, id: again.user.id, ...apiClient(service.baseUrl, token) };
  }

  test("Brings somebody from the sign-up to an exact ledger, and shows it to nobody else", async () => {
    const [ada, stranger] = [await arrive(), await arrive()];
    expect(decodeProtectedHeader(ada.token).alg).toBe(signing);
    const me = await ada.get("/api/v1/me");
    expect(me.status, JSON.stringify(me.body)).toBe(200);
    expect(me.body).toMatchObject({ profile: { email: ada.email, display_name: "Ada" } });
    const [{ slug }] = me.body.workspaces as [{ slug: string }];
    const path = `/api/v1/workspaces/${slug}`;

    const key = await ada.call("POST", `${path}/api-keys`, {
      name: "CI",
      permissions: ["log_usage", "read_summaries"],
    });
    expect(key.status, JSON.stringify(key.body)).toBe(201);
    const program = apiClient(service.baseUrl, String(key.body.secret));
    const sent = Array.from({ length: 40 }, (_, index) => ({ "idempotency-key": `call-${index % 30}` }));
    const answers = await Promise.all(
      sent.map((headers) => program.post(costMessage({ estimated_cost: 0.1 }), headers)),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(30);
    const summary = await program.get("/api/v1/summary/month");
    expect(summary.body).toMatchObject({ total_usd: 3, message_count: 30 });
    expect(await ledgerDifferences(fixtures)).toEqual([]);

    expect((await ada.get(`${path}/api-keys`)).status).toBe(200);
    expect((await stranger.get(`${path}/api-keys`)).status).toBe(404);
    const rowsOf = (id: string) => messagesSeenBy(id);
    expect(await rowsOf(ada.id)).toBe(30);
    expect(await rowsOf(stranger.id)).toBe(0);
  });

  /** How many messages the row policies show to a user, asked over PgBouncer by the login of the service. */
  async function messagesSeenBy(id: string): Promise<number> {
    const client = new Client({ connectionString: database.url });
    await client.connect();
    try {
      await client.query("begin");
      const claims = JSON.stringify({ sub: id, role: "authenticated" });
      await client.query(
        "select set_config('role', 'authenticated', true), set_config('request.jwt.claims', $1, true)",
        [claims],
      );
      const { rows } = await client.query("select count(*)::int as seen from public.messages");
      await client.query("rollback");
      return rows[0].seen;
    } finally {
      await client.end();
    }
  }

  test("Ends a session everywhere, and refuses tokens of another project and of nobody", async () => {
    const ada = await arrive();
    must(await ada.auth.refreshSession());
    expect((await ada.auth.signOut({ scope: "global" })).error).toBeNull();
    expect((await ada.auth.refreshSession()).error?.name).toBe("AuthSessionMissingError");
    const forged = `${ada.token.slice(0, -6)}AAAAAA`;
    expect((await apiClient(service.baseUrl, forged).get("/api/v1/me")).status).toBe(401);
    for (const key of [project.publishableKey, project.secretKey, randomUUID()])
      expect((await apiClient(service.baseUrl, key).get("/api/v1/me")).status).toBe(401);
  });

  test("Gives the project's public roles no table, also where the project grants them all that is new", async () => {
    const { rows } = await fixtures.sql.query(
      `select relname from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'v', 'm')
         and has_table_privilege('anon', oid, 'select, insert, update, delete, truncate, references, trigger')`,
    );
    expect(rows).toEqual([]);
  });
});
