import { expect } from "vitest";
import type { Harness } from "./harness";
import { newClient } from "./recording";

/** The body of a recurring subscription of 45 USD a month. @param fields of the message @param outer of the body */
export const subscription = (fields: Record<string, unknown> = {}, outer: Record<string, unknown> = {}) => ({
  project: "design",
  source: "api",
  message: { type: "subscription", vendor: "Figma", amount: 45, recurring: true, ...fields },
  ...outer,
});

/** The UTC day some months (and days) before today. Its date is at most the 28th, which every month has. */
export function daysAgo({ months = 0, days = 0 }): string {
  const now = new Date();
  const date = Math.min(now.getUTCDate(), 28) - days;
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - months, date))
    .toISOString()
    .slice(0, 10);
}

/** What posts subscriptions to a harness, and reads what they left in its database. */
export function subscriptionsOn(harness: Harness) {
  /** Posts a recurring subscription whose first period begins on a day, in a workspace of its own. */
  async function subscribe(fields: Record<string, unknown>) {
    const made = await newClient(harness);
    expect((await made.post(subscription(fields))).status).toBe(201);
    return made;
  }

  /** The days of a workspace's charges with their sums. */
  async function charges(workspace: string): Promise<[string, string][]> {
    const { rows } = await harness.fixtures.sql.query(
      `select to_char(min(occurred_at) at time zone 'UTC', 'YYYY-MM-DD') as day, trim_scale(sum(amount_usd))::text as amount
       from public.messages where workspace_id = $1 group by id order by 1`,
      [workspace],
    );
    return rows.map(({ day, amount }) => [day, amount]);
  }

  /** What a key has spent this month, and whether each of its workspace's charges carries it. */
  async function keyState({ workspace, keyId }: { workspace: string; keyId: string }) {
    const { rows } = await harness.fixtures.sql.query(
      `select
         (select trim_scale(amount_usd)::text from public.key_spend where api_key_id = $2) as spent,
         (select array_agg(api_key_id is not null order by occurred_at) from public.messages where workspace_id = $1) as carried`,
      [workspace, keyId],
    );
    return rows[0] as { spent: string | null; carried: boolean[] | null };
  }

  /** Everything that a refused request must not leave behind. */
  async function traces(workspace: string) {
    const tables = [
      "public.messages",
      "public.projects",
      "public.recurring_subscriptions",
      "public.key_spend",
    ];
    const counts = [...tables, "private.idempotency"].map(
      (table) => `(select count(*)::int from ${table} where workspace_id = $1)`,
    );
    const { rows } = await harness.fixtures.sql.query(`select ${counts.join(" + ")} as left`, [workspace]);
    return rows[0].left;
  }

  return { subscribe, charges, keyState, traces };
}
