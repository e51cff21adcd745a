// The baseline: the least work of a JSON endpoint on the service's HTTP adapter. It reads a body and answers with one of
// the same size.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener } from "@hono/node-server";

const answer = {
  id: "01980000-0000-7000-8000-000000000000",
  amount_usd: 0.003,
  project_id: "01980000-0000-7000-8000-000000000001",
  created_at: "2026-11-21T09:30:00.000Z",
  cost_status: "priced",
};

const server = createServer(
  getRequestListener(async (request) => {
    const body = (await request.json()) as { project?: unknown };
    return new Response(JSON.stringify({ ...answer, project_id: body.project }), {
      status: 201,
      headers: {
        "Content-Type": "application/json; charset=utf-8",
        "Cache-Control": "no-store",
        "X-Request-Id": "req_01980000-0000-7000-8000-000000000002",
      },
    });
  }),
);
server.listen(0, "127.0.0.1", () => {
  process.stdout.write(`ready http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});
