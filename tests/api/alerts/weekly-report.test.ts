import { randomUUID } from "node:crypto";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { SMTPServer } from "smtp-server";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { apiClient, costMessage } from "@/tests/helpers/client";
import { withHarness } from "@/tests/helpers/harness";
import { makeTeam, type Team } from "@/tests/helpers/team";

const harness = withHarness({ services: 0 });

let team: Team;
/** Mails as the server received them, decoded. */
const mails: { to: string[]; source: string }[] = [];
const server = new SMTPServer({
  secure: false,
  disabledCommands: ["STARTTLS", "AUTH"],
  authOptional: true,
  onData: (stream, session, done) => {
    const chunks: Buffer[] = [];
    stream.on("data", (chunk: Buffer) => chunks.push(chunk));
    stream.on("end", () => {
      const source = Buffer.concat(chunks).toString("utf8");
      mails.push({
        to: session.envelope.rcptTo.map(({ address }) => address),
        source: source
          .replace(/=\r\n/g, "")
          .replaceAll("=3D", "=")
          .replace(/:\r\n /g, ": "),
      });
      done();
    });
  },
});

beforeAll(async () => {
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.server.address() as AddressInfo;
  const settings = { SMTP_URL: `smtp://127.0.0.1:${port}`, SMTP_FROM: "Outlay <alerts@outlay.example.com>" };
  await Promise.all([harness.start(settings), harness.start(settings)]);
  team = await makeTeam(harness);
});
afterAll(() => new Promise<void>((resolve) => server.close(() => resolve())));

const call = (who: keyof Team["users"], method: string, path: string, body?: unknown) =>
  apiClient(base(), team.users[who].token).call(method, path, body);
const base = () => harness.services[1]?.baseUrl ?? "";
const report = () => `${team.path}/weekly-report`;
const sql = (text: string, values: unknown[] = []) => harness.fixtures.sql.query(text, values);

/** Moves the clock to the next Monday at eight: the reports that are planned are due now. */
const passTheWeek = () =>
  sql("update public.weekly_reports set next_at = now() - interval '1 second' where workspace_id = $1", [
    team.workspace,
  ]);
const stateOf = async (who: keyof Team["users"]) =>
  (
    await sql("select * from public.deliveries where workspace_id = $1 and reader_id = $2", [
      team.workspace,
      team.users[who].id,
    ])
  ).rows[0];

/** Stores a recommendation as the weekly computation does. */
const recommend = (kind: string, recorded: number, repriced: number, subject: object) =>
  sql(
    `insert into public.recommendations (workspace_id, kind, subject, provider, recorded_usd, repriced_usd, records, first_day, last_day, computed_at)
     values ($1, $2, $3, 'openai', $4, $5, 1, current_date - 30, current_date - 1, now())`,
    [team.workspace, kind, JSON.stringify(subject), recorded, repriced],
  );

test("Is off until a member turns it on, for that member alone, at eight on Monday in their zone", async () => {
  expect((await call("viewer", "GET", report())).body).toEqual({
    enabled: false,
    time_zone: null,
    next_at: null,
    can_mail: true,
  });
  const { status, body } = await call("viewer", "PUT", report(), {
    enabled: true,
    time_zone: "Asia/Kolkata",
  });
  expect([status, body.enabled, body.time_zone]).toEqual([200, true, "Asia/Kolkata"]);
  const next = new Date(String(body.next_at));
  expect([next.getUTCDay(), next.toISOString().slice(11, 16)]).toEqual([1, "02:30"]);
  expect(next.getTime()).toBeGreaterThan(Date.now());
  expect((await call("owner", "GET", report())).body.enabled).toBe(false);
  expect((await call("stranger", "GET", report())).status).toBe(404);
  const wrong = await call("viewer", "PUT", report(), { enabled: true, time_zone: "Mars/Olympus" });
  expect([wrong.status, wrong.body.issues]).toMatchObject([400, [{ path: "time_zone" }]]);
});

test("Mails the report of the last week once, from two processes, and an empty week briefly", async () => {
  await passTheWeek();
  await vi.waitUntil(async () => (await stateOf("viewer"))?.state === "delivered", { timeout: 60_000 });
  expect(mails.map(({ to }) => to)).toEqual([[team.users.viewer.email]]);
  const [{ source }] = mails as [(typeof mails)[0]];
  expect(source).toContain("nothing was spent from");
  expect(source).toContain("Content-Type: text/html");
  expect(source).not.toContain("changed most");
  expect(source).not.toContain("What would save money");
}, 90_000);

test("Ends by the link of the mail, by one click without an account, and says the same of unknown links", async () => {
  const { source } = mails[0] as (typeof mails)[0];
  expect(source).toContain("List-Unsubscribe-Post: List-Unsubscribe=One-Click");
  const [, link] = /List-Unsubscribe: <([^>]+)>/.exec(source) ?? [];
  const { pathname, search, searchParams } = new URL(link ?? "");
  const oneClick = (query: string) =>
    fetch(base() + pathname + query, {
      method: "POST",
      body: "List-Unsubscribe=One-Click",
      headers: { "content-type": "application/x-www-form-urlencoded" },
    });
  expect(source).toContain(`/workspaces/unsubscribe?token=${searchParams.get("token")}`);
  // The secret is kept as a hash only.
  const { rows } = await sql("select encode(secret_hash, 'hex') as hash from private.report_links");
  expect(rows.map(({ hash }) => hash)).not.toContain(searchParams.get("token"));
  const unknown = await oneClick(`?token=${"x".repeat(43)}`);
  expect([unknown.status, await unknown.json()]).toEqual([200, { ended: true }]);
  expect((await call("viewer", "GET", report())).body.enabled).toBe(true);
  for (let times = 0; times < 2; times += 1) {
    const ended = await oneClick(search);
    expect([ended.status, await ended.json()]).toEqual([200, { ended: true }]);
    expect((await call("viewer", "GET", report())).body.enabled).toBe(false);
  }
});

test("Sends it now to the reader alone, with the figures of the week, escaped", async () => {
  const { secret } = await harness.fixtures.key(team.workspace);
  const monday = new Date();
  monday.setUTCDate(monday.getUTCDate() - ((monday.getUTCDay() + 6) % 7) - 7);
  const at = (days: number) => new Date(monday.getTime() + days * 86_400_000).toISOString();
  const record = (estimated: number | undefined, occurred_at: string, model = "gpt-4o") =>
    apiClient(base(), secret).post(
      costMessage({ occurred_at, estimated_cost: estimated, model, user: "<b>anna</b>" }),
    );
  for (const [cost, days] of [
    [30, 1],
    [12.5, 2],
    [10, -3],
  ] as const)
    expect((await record(cost, at(days))).status).toBe(201);
  expect((await record(undefined, at(1), "unheard-of")).status).toBe(201);
  const bill = {
    name: "week.csv",
    content: `day,provider,amount\n${at(1).slice(0, 10)},openai,50`,
  };
  expect((await call("admin", "POST", `${team.path}/bills`, bill)).status).toBe(201);
  await recommend("batch_tier", 40, 10, { feature: "tags", target: "batch" });
  await recommend("smaller_model", 40, 27.5, { feature: "tags", target: "gpt-4o-mini" });
  await recommend("unused_seats", 99, 0, { account_id: randomUUID() });
  await recommend("disputed_price", 40, 90, { provider: "openai", model: "gpt-4o", prices: [] });
  mails.length = 0;
  const { status, body } = await call("member", "POST", `${report()}/send`, { time_zone: "UTC" });
  expect([status, body.sent_to, body.error]).toEqual([200, team.users.member.email, null]);
  expect(body.week).toBe(monday.toISOString().slice(0, 10));
  expect(mails.map(({ to }) => to)).toEqual([[team.users.member.email]]);
  const [{ source }] = mails as [(typeof mails)[0]];
  expect(source).toContain("$42.50 was spent in the week, 325% more than in the week before.");
  expect(source).toContain("- <b>anna</b>: +$32.50");
  expect(source).toContain("&lt;b&gt;anna&lt;/b&gt;");
  expect(source).toContain("Usage without a price");
  expect(source).toContain("unheard-of");
  expect(source).toContain("Billed, but not recorded");
  expect(source).toContain("- openai: $20.00");
  expect(source).toContain("60% of the $50.00 that was billed in");
  // Both are about the same usage, so only the larger counts; seats are for admins.
  expect(source).toContain("What would save money");
  expect(source).toContain("- 2 recommendations: $30.00");
  expect(source).toContain("- Disputed prices: 1 model");
  expect(source).toContain(`/${team.slug}/recommendations`);
  expect(source).not.toContain("List-Unsubscribe");
});

test("Sends nothing to somebody who left, nor to somebody who may not read the workspace without a second factor", async () => {
  mails.length = 0;
  for (const who of ["colleague", "member"] as const)
    await call(who, "PUT", report(), { enabled: true, time_zone: "UTC" });
  await sql("delete from public.workspace_members where workspace_id = $1 and user_id = $2", [
    team.workspace,
    team.users.colleague.id,
  ]);
  await sql("update public.workspaces set require_mfa = true where id = $1", [team.workspace]);
  await sql("update public.weekly_reports set next_at = now() where user_id = $1", [team.users.member.id]);
  await vi.waitUntil(async () => (await stateOf("member"))?.state === "dead", { timeout: 60_000 });
  expect(mails).toEqual([]);
}, 90_000);
