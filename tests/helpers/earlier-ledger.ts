import { randomUUID } from "node:crypto";
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bootstrapDatabaseAt, migrate } from "@/lib/db/migrate";
import { newId } from "@/lib/db/new-id";
import { createEmptyDatabase, type TestDatabase } from "./database";
import { Fixtures } from "./keys";
import { exact, show, total } from "./ledger/exact";
import { projectRoot } from "./project-root";

// The ledger of the version that kept the lines of a batch within one message.

const archive = join(projectRoot, "supabase/archive/20261122");
/** The migration that brings the means to move lines, and the one that moves what is left. */
export const [means, move] = ["20261122120000", "20261122120100"];

/** The only workspace of the earlier ledger. */
export const workspace = randomUUID();
const [key, alpha, beta] = [randomUUID(), randomUUID(), randomUUID()];
const months = ["2026-03", "2026-04", "2026-05"];

export type Row = Record<string, unknown>;
/** A line within a batch. */
export type Item = Row & { amount_usd: string; cost_status: string };

/** A line as the version before kept it within its batch. */
function item(number: number, line: number): Item {
  const of = { unit_type: "input_tokens", quantity: "1e3", ...(line % 2 && { feature: "chat" }) };
  if (line % 3 === 0)
    return { ...of, model: "fast", amount_usd: "0.000000000000000007", cost_status: "client" };
  if (line % 3 === 1 && number % 4 === 0)
    return { ...of, model: "unheard-of", amount_usd: "0", cost_status: "unpriced" };
  return {
    ...of,
    model: "gpt-4o",
    cached_quantity: "10",
    request_input_tokens: "1000",
    amount_usd: `0.00${number}${line}`,
    cost_status: "priced",
    price: { rate: "0.0000025", unit: "input_tokens", source: "catalogue" },
  };
}

/** A batch of that version with so many lines, or another message, as rows of its ledger. */
export function messageRows(number: number): Row[] {
  const at = `${months[Math.floor(number / 3) % 3]}-${String(1 + (number % 28)).padStart(2, "0")}T12:00:00Z`;
  const own = {
    workspace_id: workspace,
    id: newId(),
    occurred_at: at,
    created_at: at,
    project_id: number % 2 ? alpha : beta,
    api_key_id: key,
    source: "api",
    environment: "live",
    label: number % 5 ? null : `Message ${number}`,
    metadata: number % 5 ? null : { number },
  };
  if (number % 20 === 0) {
    const sides = { ...own, type: "allocation", cost_status: "client", details: { from_project: "beta" } };
    return [
      { ...sides, project_id: alpha, amount_usd: "0.25" },
      { ...sides, part: 1, project_id: beta, amount_usd: "-0.25" },
    ];
  }
  if (number % 20 === 1) {
    const charge = { currency: "USD", original_amount: "24", cost_status: "client", provider: "linear" };
    return Array.from({ length: 12 }, (_, part) => ({
      ...own,
      ...charge,
      type: "subscription",
      part,
      occurred_at: new Date(Date.UTC(2026, 2 + part, 1, 12)).toISOString(),
      details: { interval: "year", starts_on: "2026-03-01" },
      amount_usd: "2",
    }));
  }
  if (number % 3 === 0) {
    return [{ ...own, type: "usage", provider: "openai", ...item(number, 2) }];
  }
  const items = Array.from({ length: number % 50 === 5 ? 300 : 1 + (number % 7) }, (_, line) =>
    item(number, line),
  );
  const statuses = items.map(({ cost_status }) => cost_status);
  const status = ["unpriced", "priced", "client"].find((each) => statuses.includes(each));
  const amount = show(total(items.map(({ amount_usd }) => exact(amount_usd))));
  return [
    {
      ...own,
      type: "batch",
      provider: "openai",
      batch_id: `b-${number}`,
      items,
      amount_usd: amount,
      cost_status: status,
    },
  ];
}

/** Gives a new database the migrations before these, and a ledger as the functions of that version write it. */
export async function makeEarlierDatabase(
  rows: Row[],
): Promise<{ database: TestDatabase; fixtures: Fixtures }> {
  const database = await createEmptyDatabase();
  await bootstrapDatabaseAt(database.superuserUrl, join(projectRoot, "supabase/bootstrap"));
  await withMigrations(
    (file) => file < (means as string),
    (folder) => migrate(database.adminUrl, folder),
  );
  const fixtures = new Fixtures(database.adminUrl);
  const { sql } = fixtures;
  await sql.query("insert into public.workspaces (id, slug, name) values ($1, 'earlier', 'Earlier')", [
    workspace,
  ]);
  await sql.query(
    "insert into public.projects (workspace_id, id, slug, name) values ($1, $2, 'alpha', 'Alpha'), ($1, $3, 'beta', 'Beta')",
    [workspace, alpha, beta],
  );
  await sql.query(
    `insert into public.api_keys (workspace_id, id, name, prefix, last_four, permissions)
     values ($1, $2, 'Key', 'svc_live_x', 'abcd', array['log_usage'])`,
    [workspace, key],
  );
  await sql.query(
    "select private.ensure_messages_month(month) from generate_series(timestamptz '2026-03-01Z', '2027-03-01Z', '1 month') as month",
  );
  await sql.query("select private.store_messages('[]', $1, '[]')", [JSON.stringify(rows)]);
  return { database, fixtures };
}

/** Calls `use` with a folder that has the chosen ones of the archived migrations, each as `edit` makes it. */
export async function withMigrations<T>(
  chosen: (file: string) => boolean,
  use: (folder: string) => Promise<T>,
  edit?: (text: string) => string,
): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), "migrations-"));
  for (const file of readdirSync(archive).filter(chosen)) {
    if (edit) writeFileSync(join(folder, file), edit(readFileSync(join(archive, file), "utf8")));
    else copyFileSync(join(archive, file), join(folder, file));
  }
  try {
    return await use(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
