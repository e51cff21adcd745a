import { expect, test } from "vitest";
import { apiClient, costMessage } from "@/tests/helpers/client";
import { withHarness } from "@/tests/helpers/harness";
import type { Service } from "@/tests/helpers/service";
import { wrongClock } from "@/tests/helpers/wrong-clock";

const secret = "a-secret-of-the-scheduler";
const dayMs = 86_400_000;
const harness = withHarness({ services: 0 });

const shifted = new Map<number, Promise<Service>>();

/** A service whose own clock is some days off, the same one for every test of these days. */
function startShifted(days: number): Promise<Service> {
  const service = shifted.get(days) ?? harness.start({ ...wrongClock(days), CRON_SECRET: secret });
  shifted.set(days, service);
  return service;
}

const iso = (ms: number) => new Date(ms).toISOString();
const monthOf = (ms: number) => iso(ms).slice(0, 7);

// Forty days off is always another month.
test.each([40, -40])(
  "Records the database's time, whatever the service's clock says (%i days off)",
  async (days) => {
    const { baseUrl } = await startShifted(days);
    const workspace = await harness.fixtures.workspace();
    const key = await harness.fixtures.key(workspace, { monthly_limit: "2" });
    const client = apiClient(baseUrl, key.secret);
    const before = Date.now();
    const { status, body } = await client.post(costMessage({ estimated_cost: 1 }));
    expect(status).toBe(201);
    expect(Math.abs(Date.parse(String(body.created_at)) - before)).toBeLessThan(dayMs / 2);
    const { rows } = await harness.fixtures.sql.query(
      `select to_char(m.occurred_at at time zone 'UTC', 'YYYY-MM') as occurred, to_char(s.month, 'YYYY-MM') as counted,
         (select to_char(day, 'YYYY-MM') from public.daily_spend where workspace_id = $1) as summed
       from public.messages as m join public.key_spend as s using (workspace_id, api_key_id) where workspace_id = $1`,
      [workspace],
    );
    const month = monthOf(before);
    expect(rows).toEqual([{ occurred: month, counted: month, summed: month }]);

    // Reads through the same service, and the limit, are of the same month.
    const summary = await client.get("/api/v1/summary/month");
    expect(summary.body).toMatchObject({ total_usd: 1, message_count: 1 });
    const refused = await client.post(costMessage({ estimated_cost: 2 }));
    expect(refused.body).toMatchObject({ error: "monthly_limit_exceeded", spent_usd: 1 });
    const next = new Date(Date.UTC(new Date(before).getUTCFullYear(), new Date(before).getUTCMonth() + 1, 1));
    expect(refused.body.resets_at).toBe(`${iso(next.getTime()).slice(0, 10)}T00:00:00Z`);
  },
);

test.each([40, -40])("Checks times against the database's clock (%i days off)", async (days) => {
  const { baseUrl } = await startShifted(days);
  const workspace = await harness.fixtures.workspace();
  const client = apiClient(baseUrl, (await harness.fixtures.key(workspace)).secret);
  const post = async (message: Record<string, unknown>) => {
    const { body } = await client.post(message);
    return (body.issues as { path: string }[] | undefined)?.[0]?.path ?? body.error ?? "recorded";
  };
  const usage = (ms: number) => costMessage({ occurred_at: iso(Date.now() + ms) });
  expect(await post(usage(4 * 60_000))).toBe("recorded");
  expect(await post(usage(6 * 60_000))).toBe("message.occurred_at");
  expect(await post(usage(30 * dayMs))).toBe("message.occurred_at");

  const subscription = (starts_on: string, more = {}) => ({
    project: "design",
    source: "api",
    message: { type: "subscription", vendor: "v", amount: 1, starts_on, ...more },
  });
  const daysFromNow = (count: number) => iso(Date.now() + count * dayMs).slice(0, 10);
  expect(await post(subscription(daysFromNow(360)))).toBe("recorded");
  expect(await post(subscription(daysFromNow(380)))).toBe("message.starts_on");
  const recurring = { recurring: true };
  expect(await post(subscription(daysFromNow(-720), recurring))).toBe("recorded");
  expect(await post(subscription(daysFromNow(-740), recurring))).toBe("message.starts_on");
});

test("Books no period early when the service's clock is ahead", async () => {
  const { baseUrl } = await startShifted(40);
  const workspace = await harness.fixtures.workspace();
  const client = apiClient(baseUrl, (await harness.fixtures.key(workspace)).secret);
  const message = { type: "subscription", vendor: "v", amount: 1, recurring: true };
  expect((await client.post({ project: "design", source: "api", message })).status).toBe(201);
  const jobs = await apiClient(baseUrl, secret).get("/api/jobs");
  expect(jobs.body.jobs).toContainEqual({ name: "book_subscriptions", done: 0, failed: false });
  const { rows } = await harness.fixtures.sql.query(
    "select booked_periods from public.recurring_subscriptions where workspace_id = $1",
    [workspace],
  );
  expect(rows).toEqual([{ booked_periods: 1 }]);
});
