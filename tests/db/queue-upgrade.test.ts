import { readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { Client } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { bootstrapDatabaseAt } from "@/lib/db/migrate";
import { statementsIn } from "@/lib/db/sql-file";
import { addChannel, crossing, raise } from "@/tests/helpers/alerts";
import { createEmptyDatabase, type TestDatabase } from "@/tests/helpers/database";
import type { Fixtures } from "@/tests/helpers/keys";
import { projectRoot } from "@/tests/helpers/project-root";

// What waits in the three queues of the version before, when the one queue takes their place.

const supabase = join(projectRoot, "supabase");
const files = readdirSync(join(supabase, "migrations")).sort();
const first = files.indexOf("20261123223000_stop_former_queues.sql");

let database: TestDatabase;
let admin: Client;
/** A process of the version before. */
let former: Client;

const sql = async (text: string, ...values: unknown[]) => (await admin.query(text, values)).rows;
const apply = async (some: string[]) => {
  for (const file of some)
    for (const { text } of statementsIn(join(supabase, "migrations", basename(file))))
      await admin.query(text);
};
const connected = async () => {
  const client = new Client({ connectionString: database.adminUrl });
  await client.connect();
  return client;
};

beforeAll(async () => {
  database = await createEmptyDatabase();
  await bootstrapDatabaseAt(database.superuserUrl, join(supabase, "bootstrap"));
  [admin, former] = await Promise.all([connected(), connected()]);
  await apply(files.slice(0, first));
});
afterAll(async () => {
  await Promise.all([admin.end(), former.end()]);
  await database.drop();
});

test("Carries over what waits, once, and leaves what a process of the version before is sending to it", async () => {
  const [{ id: user }] = (await sql(
    "select local_auth.create_user('a@example.com', null, '{}') ->> 'id' as id",
  )) as [{ id: string }];
  const [{ id: workspace }] = (await sql(
    "insert into public.workspaces (slug, name) values ('w', 'W') returning id",
  )) as [{ id: string }];
  await sql(
    "insert into public.workspace_members (workspace_id, user_id, role) values ($1, $2, 'owner')",
    workspace,
    user,
  );
  const fixtures = { sql: admin } as unknown as Fixtures;
  await addChannel(fixtures, workspace, { address: "https://receiver.example/" });
  const off = { disabled_at: new Date(), disabled_reason: "gone", tell_owners_at: new Date() };
  await addChannel(fixtures, workspace, { name: "Off", ...off });
  await raise(fixtures, crossing(workspace, { level: "50" }), crossing(workspace, { level: "80" }));
  await sql(
    "insert into public.weekly_reports (workspace_id, user_id, time_zone) values ($1, $2, 'UTC')",
    workspace,
    user,
  );
  await sql(
    `insert into private.weekly_report_mails (workspace_id, user_id, week, state)
     values ($1, $2, '2026-11-09', 'pending'), ($1, $2, date_trunc('week', now())::date, 'sent')`,
    workspace,
    user,
  );
  await sql(
    "insert into private.notices (kind, recipient, details) values ('account_deleted', 'b@example.com', '{}'), ('account_restored', 'c@example.com', '{}')",
  );

  // A process of the version before takes the first alert and a mail.
  const {
    rows: [{ taken }],
  } = await former.query("select private.claim_alert_deliveries(1, 1, 1, 40) as taken");
  const {
    rows: [{ mails }],
  } = await former.query("select private.claim_notices(1) as mails");
  await apply([files[first] as string]);
  const upgrade = apply(files.slice(first + 1));
  await expect(former.query("select private.claim_weekly_reports(9, 60)")).rejects.toThrow("does not exist");
  await former.query("select private.finish_alert_delivery($1)", [
    JSON.stringify({ ...taken[0], outcome: "delivered", status: 204, error: null, retry_in_ms: 0 }),
  ]);
  await former.query("select private.forget_notice($1)", [mails[0].id]);
  await upgrade;

  const claim = async () =>
    (await sql("select private.claim_deliveries(64, 32, 4, 60, true) as taken"))[0]?.taken as {
      kind: string;
      alert?: { level: string };
      report?: { week: string };
      off?: { name: string };
      recipient: string | null;
    }[];
  const told = (await claim()).map(
    ({ kind, alert, report, off, recipient }) =>
      `${kind} ${alert?.level ?? report?.week ?? off?.name ?? recipient}`,
  );
  const left = mails[0].recipient === "b@example.com" ? "account_restored c@" : "account_deleted b@";
  expect(told.sort()).toEqual(
    ["alert 80", "channel_off Off", "weekly_report 2026-11-09", `${left}example.com`].sort(),
  );
  expect(await claim()).toEqual([]);
  expect(await sql("select state from public.deliveries where kind = 'alert' order by number")).toEqual([
    { state: "delivered" },
    { state: "pending" },
  ]);
  // New rows come after those that were carried over.
  await raise(fixtures, crossing(workspace, { level: "90" }));
  const [last] = await sql("select number, alert_id from public.deliveries order by number desc limit 1");
  expect(Number(last?.number)).toBeGreaterThan(2);
  expect(last?.alert_id).not.toBeNull();
});
