import { expect } from "vitest";
import type { Harness } from "@/tests/helpers/harness";
import { exactClient } from "./client";
import { type Filled, fillWorkspace } from "./reconcilable";

const line = { provider: "p", model: "m", unit_type: "requests", quantity: "1", feature: "chat" };
/** A usage of 2 USD. */
export const oldUsage = (occurred_at: string) => ({
  type: "usage",
  ...line,
  estimated_cost: "2",
  occurred_at,
});
/** What was posted with an idempotency key. */
export const keyed = {
  project: "alpha",
  source: "api",
  idempotency_key: "old",
  message: oldUsage("2026-03-31T23:59:59Z"),
};

/** `old`: the id of the message in March that was recorded with an idempotency key. */
export type OldMonths = Filled & { old: string };

/**
 * Makes a workspace with a message of every kind and, in old months, a batch, an allocation, an expense, test messages, and
 * messages with keys.
 */
export async function fillOldMonths(harness: Harness): Promise<OldMonths> {
  const filled = await fillWorkspace(harness);
  const of = (message: Record<string, unknown>, project = "alpha") => ({ project, source: "api", message });
  const items = [
    { model: "m", unit_type: "requests", quantity: "1" },
    { model: "n", unit_type: "requests", quantity: "3", estimated_cost: "0.25" },
  ];
  const client = exactClient(harness.services[0]?.baseUrl ?? "", filled.secret);
  const { body } = await client.bulk([
    of({ type: "batch", provider: "p", batch_id: "old", items, occurred_at: "2026-02-10T08:00:00Z" }),
    of(
      { type: "allocation", from_project: "alpha", amount: "0.25", occurred_at: "2026-02-28T23:00:00Z" },
      "beta",
    ),
    of({ type: "expense", vendor: "v", amount: "100", currency: "EUR", occurred_at: "2026-04-01T00:00:00Z" }),
    keyed,
  ]);
  // One that was voided, which goes together with its void.
  const twice = await client.post(of({ ...oldUsage("2026-03-02T00:00:00Z"), user: "bo" }));
  await harness.fixtures.sql.query(
    "insert into public.message_voids (workspace_id, message_id, reason) values ($1, $2, 'Twice.')",
    [filled.id, twice.body.id],
  );
  const test = await harness.fixtures.key(filled.id, { environment: "test" });
  const { status } = await exactClient(harness.services[0]?.baseUrl ?? "", test.secret).post(
    of(oldUsage("2026-03-05T00:00:00Z")),
  );
  expect([body.results, status]).toEqual([Array(4).fill(expect.objectContaining({ status: "201" })), 201]);
  const results = body.results as { id: string }[];
  return { ...filled, old: results[3]?.id ?? "" };
}
