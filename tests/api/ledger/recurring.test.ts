import { describe, expect, test } from "vitest";
import { dayOf } from "@/lib/contract/values/instant";
import { bookDueSubscriptions } from "@/lib/ledger/recurring/book-due-subscriptions";
import { addMonths } from "@/lib/ledger/recurring/periods";
import { apiClient, signUpUser } from "@/tests/helpers/client";
import { firstDay } from "@/tests/helpers/closable-months";
import { connectService } from "@/tests/helpers/connect-service";
import { ledgerDifferences, withHarness } from "@/tests/helpers/harness";
import { newClient } from "@/tests/helpers/recording";
import { daysAgo, subscription, subscriptionsOn } from "@/tests/helpers/subscriptions";

const harness = withHarness();
const { subscribe, charges, keyState, traces } = subscriptionsOn(harness);

connectService(() => harness.database);

const signUp = () => signUpUser(harness.services[0]?.baseUrl ?? "");

const at = (day: string) => Date.parse(`${day}T00:00:00Z`);

describe("Due periods of a new subscription", () => {
  test("Are recorded with it, listed, and counted against its key at once", async () => {
    const made = await newClient(harness, { monthly_limit: "180" });
    const starts_on = daysAgo({ months: 3 });
    const { status, body } = await made.post(subscription({ starts_on }));
    expect(status).toBe(201);
    const later = [2, 1, 0].map((months) => daysAgo({ months }));
    expect(body).toMatchObject({
      amount_usd: 45,
      due_periods: later.map((day) => ({ id: expect.any(String), starts_on: day, amount_usd: 45 })),
    });
    expect(await charges(made.workspace)).toEqual([starts_on, ...later].map((day) => [day, "45"]));
    expect(await keyState(made)).toEqual({ spent: "180", carried: [true, true, true, true] });
    expect((await made.post(subscription({ amount: 0.01 }))).body).toMatchObject({
      error: "monthly_limit_exceeded",
      spent_usd: 180,
    });
    await bookDueSubscriptions();
    expect(await charges(made.workspace)).toHaveLength(4);
    expect(await ledgerDifferences(harness.fixtures)).toEqual([]);
  });

  test("Are refused together with it when they would exceed the key's limit", async () => {
    const { workspace, ...client } = await newClient(harness, { monthly_limit: "179.99" });
    const message = subscription({ starts_on: daysAgo({ months: 3 }) }, { idempotency_key: "figma" });
    for (const query of ["", "?dry_run=true"]) {
      const { status, body } = await client.post(message, {}, query);
      expect([status, body]).toMatchObject([402, { limit_usd: 179.99, spent_usd: 0 }]);
    }
    const bulk = await client.call("POST", "/api/v1/messages/batch", { messages: [message] });
    expect(bulk.body).toMatchObject({ refused: 1, results: [{ error: "monthly_limit_exceeded" }] });
    expect(await traces(workspace)).toBe(0);
    await bookDueSubscriptions(at(daysAgo({ months: -12 })));
    expect(await traces(workspace)).toBe(0);
  });

  test("Count against the key's limit for what is recorded after them in the same call", async () => {
    const { workspace, ...client } = await newClient(harness, { monthly_limit: "200" });
    const messages = [subscription({ starts_on: daysAgo({ months: 3 }) }), subscription({ amount: 20.01 })];
    const { body } = await client.call("POST", "/api/v1/messages/batch", { messages });
    expect(body).toMatchObject({
      refused: 1,
      results: [{ status: 201 }, { error: "monthly_limit_exceeded", spent_usd: 180 }],
    });
    expect(await charges(workspace)).toHaveLength(4);
  });

  test("Are limited to 1,000 in a bulk call; another call takes the rest", async () => {
    const { workspace, ...client } = await newClient(harness);
    const message = subscription({ starts_on: daysAgo({ months: 23 }) });
    const late = subscription({ starts_on: daysAgo({}) });
    const messages = [...Array.from({ length: 60 }, () => message), late];
    const bulk = (query: string) => client.call("POST", `/api/v1/messages/batch${query}`, { messages });
    for (const query of ["?dry_run=true", ""]) {
      const { body } = await bulk(query);
      expect(body).toMatchObject({ recorded: 44, refused: 17 });
      // What has no past periods to charge is not in the way.
      expect((body.results as { status: number }[])[60]?.status).toBe(201);
      expect((body.results as object[])[43]).toMatchObject({
        status: 400,
        error: "validation_failed",
        issues: [{ path: "message.starts_on", message: expect.stringContaining("another call") }],
      });
    }
    expect((await charges(workspace)).length).toBe(43 * 24 + 1);
    const again = await client.call("POST", "/api/v1/messages/batch", { messages: messages.slice(43) });
    expect(again.body).toMatchObject({ recorded: 18, refused: 0 });
    expect(await ledgerDifferences(harness.fixtures)).toEqual([]);
  });

  test("Go back 24 months and not a day more, by either date field", async () => {
    const { workspace, ...client } = await newClient(harness);
    // This month may have fewer days than the test's: the rule is of today.
    const today = new Date().toISOString().slice(0, 10);
    const earliest = addMonths(today, -24);
    const dayBefore = new Date(Date.parse(earliest) - 86_400_000).toISOString().slice(0, 10);
    const refused = [
      [{ starts_on: dayBefore }, "message.starts_on"],
      [{ starts_on: "2000-01-01", interval: "year" }, "message.starts_on"],
      [{ occurred_at: `${dayBefore}T23:59:59Z` }, "message.occurred_at"],
    ] as const;
    for (const [fields, path] of refused) {
      const { status, body } = await client.post(subscription(fields));
      expect(status).toBe(400);
      expect(body.issues).toEqual([{ path, message: expect.stringContaining("24 months") }]);
    }
    expect(await traces(workspace)).toBe(0);
    const single = await client.post(subscription({ starts_on: "2000-01-01", recurring: false }));
    expect(single.status).toBe(201);
    const { body } = await client.post(subscription({ starts_on: earliest }));
    expect(body.due_periods).toHaveLength(24);
    const yearly = await client.post(subscription({ starts_on: earliest, interval: "year", amount: 12 }));
    expect(yearly.body).toMatchObject({
      amount_usd: 12,
      due_periods: [{ amount_usd: 12 }, { amount_usd: 12 }],
    });
  });

  test("Are answered again to a retry, even when too old by then; a dry run lists them and stores nothing", async () => {
    const { workspace, ...client } = await newClient(harness);
    const starts_on = daysAgo({ months: 2 });
    const trial = await client.post(subscription({ starts_on }), {}, "?dry_run=true");
    expect(trial.body).toMatchObject({ dry_run: true, due_periods: [{}, {}] });
    expect(await traces(workspace)).toBe(0);
    const first = await client.post(subscription({ starts_on }, { idempotency_key: "k" }));
    const retry = async (day: string) =>
      client.post(subscription({ starts_on: day }, { idempotency_key: "k" }));
    expect((await retry(starts_on)).body).toEqual(first.body);
    // As if the message had been posted in 2023.
    await harness.fixtures.sql.query(
      `update private.idempotency set request = jsonb_set(request, '{message,starts_on}', '"2022-01-01"') where workspace_id = $1`,
      [workspace],
    );
    const late = await retry("2022-01-01");
    expect([late.status, late.body, late.headers.get("idempotent-replayed")]).toEqual([
      201,
      first.body,
      "true",
    ]);
    expect(await charges(workspace)).toHaveLength(3);
  });

  test("End with ends_on", async () => {
    const made = await newClient(harness);
    const [starts_on, ends_on] = [daysAgo({ months: 4 }), daysAgo({ months: 2 })];
    const { body } = await made.post(subscription({ starts_on, ends_on }));
    expect(body.due_periods).toHaveLength(2);
    await bookDueSubscriptions(at(daysAgo({ months: -12 })));
    expect(await charges(made.workspace)).toHaveLength(3);
  });
});

test("Books later periods for the workspace, without key or limit", async () => {
  const made = await newClient(harness, { monthly_limit: "45" });
  const { sql } = harness.fixtures;
  await made.post(subscription({ starts_on: daysAgo({}) }));
  await sql.query("update public.api_keys set revoked_at = now() where id = $1", [made.keyId]);
  const inHalfAYear = Date.parse(daysAgo({ months: -6 }));
  await bookDueSubscriptions(inHalfAYear);
  expect(await charges(made.workspace)).toHaveLength(7);
  expect(await keyState(made)).toEqual({ spent: "45", carried: [true, ...Array(6).fill(false)] });
  expect(await ledgerDifferences(harness.fixtures)).toEqual([]);
});

test("Books each period exactly once among eight workers, also after months of downtime", async () => {
  const { workspace } = await subscribe({ starts_on: "2026-10-31" });
  /** The last days of the months from October 2026 to before the present one, and of so many more. */
  const due = (more: number) => {
    const now = new Date();
    const months = (now.getUTCFullYear() - 2026) * 12 + now.getUTCMonth() - 9 + more;
    return Array.from({ length: months }, (_, index) => [dayOf(Date.UTC(2026, 10 + index, 0)), "45"]);
  };
  const [before, last] = [due(3), due(7)].map((charges) => at(charges.at(-1)?.[0] ?? ""));
  await bookDueSubscriptions(before);
  expect(await charges(workspace)).toEqual(due(3));
  await Promise.all(Array.from({ length: 8 }, () => bookDueSubscriptions((last ?? 0) - 1)));
  expect(await charges(workspace)).toEqual(due(6));
  await bookDueSubscriptions(last);
  expect(await charges(workspace)).toEqual(due(7));
  expect(await ledgerDifferences(harness.fixtures)).toEqual([]);
});

test("Books a year one year later and spreads it over its months", async () => {
  const started = firstDay(5).replace(/01$/, "15");
  const again = `${Number(started.slice(0, 4)) + 1}${started.slice(4)}`;
  const { workspace } = await subscribe({ starts_on: started, interval: "year", amount: 100 });
  await bookDueSubscriptions(at(again));
  expect(await charges(workspace)).toEqual([
    [started, "100"],
    [again, "100"],
  ]);
});

test("Books no period after ends_on", async () => {
  const { workspace } = await subscribe({ starts_on: "2026-09-01", ends_on: "2026-11-01" });
  await bookDueSubscriptions(at("2028-01-01"));
  expect((await charges(workspace)).map(([day]) => day)).toEqual(["2026-09-01", "2026-10-01", "2026-11-01"]);
});

test("Books a non-recurring subscription only once", async () => {
  const { workspace } = await subscribe({ starts_on: "2026-09-01", recurring: false });
  await bookDueSubscriptions(at("2028-01-01"));
  expect(await charges(workspace)).toHaveLength(1);
});

test("Stops a subscription for a member, keeps what is booked, and audits it", async () => {
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

test("Books due periods in the running service, also of subscriptions that still have a key", async () => {
  const made = await subscribe({ starts_on: daysAgo({}) });
  // As if it had been posted three months ago, and nothing had been booked since.
  await harness.fixtures.sql.query(
    `update public.recurring_subscriptions
     set anchor_on = anchor_on - interval '3 months', next_on = anchor_on - interval '2 months' where workspace_id = $1`,
    [made.workspace],
  );
  await harness.start();
  await expect.poll(async () => (await charges(made.workspace)).length, { timeout: 30_000 }).toBe(4);
  expect(await keyState(made)).toMatchObject({ spent: "45" });
  const spend = await made.get(
    `/api/v1/projects/design/spend?from=${daysAgo({ months: 2 })}T00:00:00Z&to=${daysAgo({ days: 1 })}T00:00:00Z`,
  );
  expect(spend.body.subscription_usd).toBe(90);
});

test("Runs the jobs for a scheduler with the secret, and for nobody else", async () => {
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
        { name: "fetch_published", failed: false },
        { name: "price_unpriced", failed: false },
        { name: "queue_due", failed: false },
        { name: "deliver", failed: false },
        { name: "sweep_deliveries", failed: false },
        { name: "pull_bills", failed: false },
        { name: "write_limits", failed: false },
        { name: "erase_workspaces", failed: false },
        { name: "erase_accounts", failed: false },
        { name: "erase_people", failed: false },
        { name: "change_time_zones", failed: false },
        { name: "fold_past_days", failed: false },
        { name: "file_closed_months", failed: false },
        { name: "watch_budgets", failed: false },
        { name: "judge_key_rules", failed: false },
        { name: "judge_usage_rules", failed: false },
        { name: "judge_budgets", failed: false },
        { name: "judge_bills", failed: false },
        { name: "compute_recommendations", failed: false },
        { name: "settle_alert_entries", failed: false },
        { name: "sweep_tokens", failed: false },
        { name: "sweep_old_records", failed: false },
      ],
    },
  });
  const [without] = harness.services;
  expect(without && (await call(secret, without)).status).toBe(404);
});
