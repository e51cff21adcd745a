// The floor: the least work of a service that records a message and answers after the commit. It uses the service's HTTP
// adapter, parses JSON and collects requests into one insert of the same row, into a table with the same partitions and
// indexes. It checks no key, prices nothing and sums nothing. One insert runs at a time, with all requests that arrived during the
// previous one, and Node has its default flags.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener } from "@hono/node-server";
import pg from "pg";
import { Batcher } from "@/lib/batcher";
import { newId } from "@/lib/db/new-id";

/** The part of a request that becomes the row. */
type Request = { project: string; message: Record<string, unknown> };

const [connectionString] = process.argv.slice(2);
const pool = new pg.Pool({ connectionString, max: 10 });

const ids = {
  workspace_id: "01980000-0000-7000-8000-000000000001",
  project_id: "01980000-0000-7000-8000-000000000002",
  api_key_id: "01980000-0000-7000-8000-000000000003",
};
const price = {
  rate: "2.5",
  unit: "1000000",
  source: "catalogue",
  version: "genai-prices 0.0.70",
  model: "gpt-4o",
};

const insert = `
  insert into floor.messages (
    workspace_id, id, part, occurred_at, created_at, project_id, api_key_id, type, source, environment,
    provider, model, feature, unit_type, quantity, amount_usd, cost_status, price
  )
  select
    workspace_id, id, 0, occurred_at, created_at, project_id, api_key_id, type, source, environment,
    provider, model, feature, unit_type, quantity, amount_usd, cost_status, price
  from jsonb_to_recordset($1) as m (
    workspace_id uuid, id uuid, occurred_at timestamptz, created_at timestamptz, project_id uuid, api_key_id uuid,
    type text, source text, environment text, provider text, model text, feature text, unit_type text,
    quantity numeric, amount_usd numeric, cost_status text, price jsonb
  )`;

function rowOf({ message }: Request, now: string) {
  return {
    ...ids,
    id: newId(),
    occurred_at: now,
    created_at: now,
    type: "usage",
    source: "api",
    environment: "live",
    provider: message.provider,
    model: message.model,
    feature: message.feature,
    unit_type: message.unit_type,
    quantity: String(message.quantity),
    amount_usd: "0.0025",
    cost_status: "priced",
    price,
  };
}

type Row = ReturnType<typeof rowOf>;

const batcher = new Batcher<Row, Row>({
  write: async (rows) => {
    await pool.query(insert, [JSON.stringify(rows)]);
    return rows;
  },
  weigh: () => 1,
  maxGroupWeight: 500,
  maxInFlight: 1,
  maxQueuedWeight: 20_000,
  overflow: () => new Error("The queue is full."),
});

const sample: Request = {
  project: "project-1",
  message: {
    provider: "openai",
    model: "gpt-4o",
    unit_type: "input_tokens",
    quantity: 1_000,
    feature: "feature-1",
  },
};

/** The columns that all raw rows share, as the end of a row's JSON. */
const { id: _id, occurred_at: _at, created_at: _now, ...shared } = rowOf(sample, "");
const rest = JSON.stringify(shared).slice(1);

/**
 * `POST /raw/500/50` inserts 500 rows of 50 days without reading JSON. Bulk calls are compared with its rate, so it does only the work
 * that Postgres needs to receive a row.
 */
async function insertRaw(path: string): Promise<unknown> {
  const [count = 0, days = 1] = path.split("/").slice(2).map(Number);
  const nowMs = Date.now();
  const at = Array.from({ length: days }, (_, day) => new Date(nowMs - day * 86_400_000).toISOString());
  const rows = Array.from(
    { length: count },
    (_, index) => `{"id":"${newId()}","occurred_at":"${at[index % days]}","created_at":"${at[0]}",${rest}`,
  );
  await pool.query(insert, [`[${rows.join(",")}]`]);
  return {};
}

async function record(request: globalThis.Request): Promise<unknown> {
  const row = await batcher.add(rowOf((await request.json()) as Request, new Date().toISOString()));
  const { id, amount_usd, project_id, created_at, cost_status } = row;
  return { id, amount_usd: Number(amount_usd), project_id, created_at, cost_status };
}

const server = createServer(
  getRequestListener(async (request) => {
    const { pathname } = new URL(request.url);
    const answer = await (pathname.startsWith("/raw/") ? insertRaw(pathname) : record(request));
    return new Response(JSON.stringify(answer), {
      status: 201,
      headers: {
        "Content-Type": "application/json; charset=utf-8",
        "Cache-Control": "no-store",
        "X-Request-Id": `req_${newId()}`,
      },
    });
  }),
);
server.listen(0, "127.0.0.1", () => {
  process.stdout.write(`ready http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});
