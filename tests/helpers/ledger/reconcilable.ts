import { randomUUID } from "node:crypto";
import type { Difference } from "@/lib/ledger/reconcile/difference";
import { reconcile } from "@/lib/ledger/reconcile/service";
import type { Harness } from "../harness";
import { exactClient } from "./client";

/** Creates a workspace with one message of every kind in an earlier month and in this one. */
export async function fillWorkspace(harness: Harness) {
  const slug = `w-${randomUUID()}`;
  const id = await harness.fixtures.workspace(slug);
  const key = await harness.fixtures.key(id);
  const client = exactClient(harness.services[0]?.baseUrl ?? "", key.secret);
  await harness.fixtures.sql.query(
    "insert into public.budgets (workspace_id, name, scope_type, amount) values ($1, 'all', 'global', 10)",
    [id],
  );
  const line = { model: "m", unit_type: "requests", quantity: "1", feature: "chat" };
  const of = (message: Record<string, unknown>, project = "alpha") => ({ project, source: "api", message });
  const { body } = await client.bulk([
    {
      ...of({
        type: "usage",
        provider: "p",
        ...line,
        estimated_cost: "1.5",
        user: "anna@example.com",
        tags: { team: "growth", cost_center: "4711" },
      }),
      idempotency_key: "kept",
    },
    of({ type: "usage", provider: "p", ...line }),
    of({
      type: "usage",
      provider: "p",
      ...line,
      estimated_cost: "2",
      occurred_at: "2026-02-14T23:59:59.999Z",
    }),
    of({
      type: "batch",
      provider: "p",
      batch_id: "b",
      items: [
        { ...line, estimated_cost: "0.25" },
        { ...line, model: "n" },
      ],
    }),
    of({ type: "expense", vendor: "v", amount: "28600", currency: "JPY" }),
    of({
      type: "subscription",
      vendor: "v",
      amount: "100",
      currency: "EUR",
      interval: "year",
      starts_on: "2026-01-31",
    }),
    of({ type: "allocation", from_project: "alpha", amount: "0.4" }, "beta"),
    of({
      type: "usage",
      provider: "p",
      ...line,
      estimated_cost: "0.7",
      included: true,
      user: "bo",
      occurred_at: "2026-02-16T00:00:00Z",
    }),
  ]);
  const ids = (body.results as { id: string }[]).map((result) => result.id);
  const [usage = "", , , batch = "", expense = "", subscription = "", allocation = "", included = ""] = ids;
  return { id, slug, secret: key.secret, ids: { usage, batch, expense, subscription, allocation, included } };
}

export type Filled = Awaited<ReturnType<typeof fillWorkspace>>;

/** Compares one workspace, and repairs it if asked to. */
export const check = (workspace: Filled, repair = false) => reconcile({ workspace: workspace.slug, repair });
/** A difference in one line. */
export const short = ({ kind, figure, difference }: Difference) => `${kind} ${figure} ${difference}`;
