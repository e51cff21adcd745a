import { afterAll, beforeAll, expect, test } from "vitest";
import { closeDatabase, configureDatabase } from "@/lib/db/pool";
import { bookDueSubscriptions } from "@/lib/ingest/recurring";
import { apiClient, signUpUser } from "@/tests/helpers/client";
import { ledgerDifferences, withHarness } from "@/tests/helpers/harness";

const harness = withHarness();

beforeAll(() => configureDatabase(harness.database));
afterAll(closeDatabase);

/** Posts a recurring subscription whose first period begins on a day, in a workspace of its own. */
async function subscribe(fields: Record<string, unknown>) {
  const workspace = await harness.fixtures.workspace();
  const { secret } = await harness.fixtures.key(workspace);
  const client = apiClient(harness.services[0]?.baseUrl ?? "", secret);
  const message = { type: "subscription", vendor: "Figma", amount: 45, recurring: true, ...fields };
  const answer = await client.post({ project: "design", source: "api", message });
  expect(answer.status).toBe(201);
  return { workspace, client };
}

const signUp = () => signUpUser(harness.services[0]?.baseUrl ?? "");

/** The days of a workspace's charges with their sums. */
async function charges(workspace: string): Promise<[string, string][]> {
  const { rows } = await harness.fixtures.sql.query(
    `select to_char(min(occurred_at) at time zone 'UTC', 'YYYY-MM-DD') as day, trim_scale(sum(amount_usd))::text as amount
     from public.messages where workspace_id = $1 group by id order by 1`,
    [workspace],
  );
  return rows.map(({ day, amount }) => [day, amount]);
}

const at = (day: string) => Date.parse(`${day}T00:00:00Z`);

test("each period is booked exactly once, by whichever of eight comes first, also after months of downtime", async () => {
  const { workspace } = await subscribe({ starts_on: "2026-10-31" });
  await bookDueSubscriptions(at("2026-11-29"));
  expect(await charges(workspace)).toEqual([["2026-10-31", "45"]]);
  await Promise.all(Array.from({ length: 8 }, () => bookDueSubscriptions(at("2027-03-30"))));
  expect(await charges(workspace)).toEqual([
    ["2026-10-31", "45"],
    ["2026-11-30", "45"],
    ["2026-12-31", "45"],
    ["2027-01-31", "45"],
    ["2027-02-28", "45"],
  ]);
  await bookDueSubscriptions(at("2027-03-31"));
  expect(await charges(workspace)).toHaveLength(6);
  expect(await ledgerDifferences(harness.fixtures)).toEqual([]);
});

test("a year is booked a year later, again spread over its months", async () => {
  const { workspace } = await subscribe({ starts_on: "2026-06-15", interval: "year", amount: 100 });
  await bookDueSubscriptions(at("2027-06-15"));
  expect(await charges(workspace)).toEqual([
    ["2026-06-15", "100"],
    ["2027-06-15", "100"],
  ]);
});

test("no period begins after ends_on", async () => {
  const { workspace } = await subscribe({ starts_on: "2026-09-01", ends_on: "2026-11-01" });
  await bookDueSubscriptions(at("2028-01-01"));
  expect((await charges(workspace)).map(([day]) => day)).toEqual(["2026-09-01", "2026-10-01", "2026-11-01"]);
});

test("a subscription that is not recurring is never booked again", async () => {
  const { workspace } = await subscribe({ starts_on: "2026-09-01", recurring: false });
  await bookDueSubscriptions(at("2028-01-01"));
  expect(await charges(workspace)).toHaveLength(1);
});

test("a member stops one: what is booked stays, nothing more is booked, and the audit log says who it was", async () => {
  const { workspace } = await subscribe({ starts_on: "2026-10-01" });
  const { sql } = harness.fixtures;
  const slug = (await sql.query("select slug from public.workspaces where id = $1", [workspace])).rows[0]
    .slug;
  const path = `/api/v1/workspaces/${slug}/subscriptions`;
  const [member, viewer, stranger] = await Promise.all([signUp(), signUp(), signUp()]);
  for (const [user, role] of [
    [member, "member"],
    [viewer, "viewer"],
  ] as const) {
    await sql.query(
      "insert into public.workspace_members (workspace_id, user_id, role) values ($1, $2, $3)",
      [workspace, user.id, role],
    );
  }
  const { body } = await viewer.get(path);
  const [listed] = body.subscriptions as { id: string }[];
  expect(listed).toMatchObject({ vendor: "Figma", amount: 45, starts_on: "2026-10-01", stopped_at: null });
  const one = `${path}/${listed?.id}`;
  expect((await stranger.call("DELETE", one)).status).toBe(404);
  expect((await viewer.call("DELETE", one)).status).toBe(403);
  expect((await member.call("DELETE", one)).body).toMatchObject({
    next_on: null,
    stopped_at: expect.any(String),
  });
  const booked = await charges(workspace);
  await bookDueSubscriptions(at("2028-01-01"));
  expect(await charges(workspace)).toEqual(booked);
  const audit = await sql.query(
    "select action, actor_id from public.audit_log where workspace_id = $1 and action like 'subscription.%'",
    [workspace],
  );
  expect(audit.rows).toEqual([{ action: "subscription.changed", actor_id: member.id }]);
});

test("the running service books what is due by itself", async () => {
  const { workspace, client } = await subscribe({ starts_on: "2026-09-05" });
  const now = new Date();
  const due = (now.getUTCFullYear() - 2026) * 12 + now.getUTCMonth() - 8 + (now.getUTCDate() >= 5 ? 1 : 0);
  await harness.start();
  await expect.poll(async () => (await charges(workspace)).length, { timeout: 10_000 }).toBe(due);
  const spend = await client.get(
    "/api/v1/projects/design/spend?from=2026-09-01T00:00:00Z&to=2026-11-01T00:00:00Z",
  );
  expect(spend.body.subscription_usd).toBe(90);
});

test("where no worker runs, a scheduler with the secret has the jobs done, and nobody else", async () => {
  const secret = "a-secret-of-the-scheduler";
  const service = await harness.start({ CRON_SECRET: secret });
  const call = (token: string | null, at = service) => apiClient(at.baseUrl, token).get("/api/jobs");
  expect((await call(null)).body.error).toBe("missing_credentials");
  expect((await call("guess")).body.error).toBe("invalid_credentials");
  expect(await call(secret)).toMatchObject({
    status: 200,
    body: {
      jobs: [
        { name: "book_subscriptions", failed: false },
        { name: "reprice_messages", failed: false },
        { name: "sweep_tokens", failed: false },
      ],
    },
  });
  const [without] = harness.services;
  expect(without && (await call(secret, without)).status).toBe(404);
});
