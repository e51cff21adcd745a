import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type AddressInfo, connect } from "node:net";
import type { OutsideNetwork } from "@/lib/outside/connect";
import type { Fixtures } from "./keys";

/** The secret with which the channels of `addChannel` sign. */
export const signingSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

/** An alert as `private.raise_alerts` takes it: 80% of a budget. */
export function crossing(workspaceId: string, more: { details?: object; [column: string]: unknown } = {}) {
  const { level = "80", details, ...rest } = more;
  return {
    workspace_id: workspaceId,
    rule: "budget_threshold",
    subject_type: "budget",
    subject_id: "0193a0f7-1e44-7c02-a6d3-90b1f8e2d417",
    period: "2026-11-01",
    level,
    is_quiet: false,
    details: {
      budget: "Everything",
      scope_type: "global",
      scope_value: null,
      percent: level,
      amount_usd: "100",
      spent_usd: "80.01",
      period_from: "2026-11-01",
      period_until: "2026-12-01",
      ...details,
    },
    ...rest,
  };
}

/** Raises alerts as the rule does that fires. */
export async function raise({ sql }: Fixtures, ...raised: ReturnType<typeof crossing>[]): Promise<void> {
  await sql.query("select private.raise_alerts($1)", [JSON.stringify(raised)]);
}

/** The same, with a state for each, so that the job resolves none of their entries, although there is no such budget. */
export async function raiseLasting(
  fixtures: Fixtures,
  ...raised: ReturnType<typeof crossing>[]
): Promise<void> {
  await fixtures.sql.query(
    `insert into public.alert_states (workspace_id, rule, subject_type, subject_id, period, state, since)
     select r.workspace_id, r.rule, r.subject_type, r.subject_id, r.period, 'alert', now()
     from jsonb_to_recordset($1) as r (workspace_id uuid, rule text, subject_type text, subject_id text, period date)
     on conflict do nothing`,
    [JSON.stringify(raised)],
  );
  await raise(fixtures, ...raised);
}

/** Judges the rules about keys. Waits while the service's own job judges them, which would leave nothing to do. */
export async function judgeKeyRules({ sql }: Fixtures): Promise<void> {
  await sql.query(
    "select pg_advisory_xact_lock(hashtextextended('outlay.alert_rules.keys', 0)), private.judge_key_rules()",
  );
}

/** Adds a channel to a workspace, past the service. @returns its id */
export async function addChannel(
  { sql }: Fixtures,
  workspaceId: string,
  {
    address = null,
    id = randomUUID(),
    ...columns
  }: { address?: string | null; id?: string; [column: string]: unknown } = {},
): Promise<string> {
  const row = {
    workspace_id: workspaceId,
    id,
    name: "Ours",
    kind: "webhook",
    target: "receiver.example",
    ...columns,
  };
  const names = Object.keys(row);
  await sql.query(
    `insert into public.alert_channels (${names}) values (${names.map((_, index) => `$${index + 1}`)})`,
    Object.values(row),
  );
  await sql.query(
    "insert into private.channel_secrets (workspace_id, channel_id, address, signing_secret) values ($1, $2, $3, $4)",
    [workspaceId, id, address, row.kind === "webhook" ? signingSecret : null],
  );
  return id;
}

/** A channel's deliveries, the first first. */
export async function deliveriesOf({ sql }: Fixtures, channelId: string) {
  const { rows } = await sql.query(
    `select d.*, a.level from public.deliveries as d left join public.alerts as a on a.id = d.alert_id
     where d.channel_id = $1 order by d.number`,
    [channelId],
  );
  return rows;
}

/** Makes everything that waits due now, as if its time had come. */
export async function passTheWait({ sql }: Fixtures, channelId: string): Promise<void> {
  await sql.query(
    "update public.deliveries set next_attempt_at = now() where channel_id = $1 and state = 'pending'",
    [channelId],
  );
}

/** What a receiver received. */
export type Received = { id: string; path: string; headers: Record<string, string>; body: string };

/** A receiver of the test's own on loopback. */
export type Receiver = {
  port: number;
  url: string;
  received: Received[];
  /** How it answers from now on; at first 204. */
  answer: (request: IncomingMessage, response: ServerResponse) => void;
  close(): Promise<void>;
};

export async function openReceiver(): Promise<Receiver> {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const headers = request.headers as Record<string, string>;
    receiver.received.push({
      id: headers["webhook-id"] ?? "",
      path: request.url ?? "",
      headers,
      body: Buffer.concat(chunks).toString("utf8"),
    });
    receiver.answer(request, response);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  const receiver: Receiver = {
    port,
    url: `http://127.0.0.1:${port}/hook`,
    received: [],
    answer: (_, response) => void response.writeHead(204).end(),
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
  return receiver;
}

/** An answer with a status. */
export const status =
  (code: number, headers: Record<string, string> = {}): Receiver["answer"] =>
  (_, response) =>
    void response.writeHead(code, headers).end("the receiver's own words");

/**
 * The outside world of a test: every host has the public address that `resolve` says, and connections to it lead to the
 * receiver of that host.
 */
export function outsideWorld(receivers: Record<string, Receiver>): OutsideNetwork & { asked: string[] } {
  const asked: string[] = [];
  return {
    asked,
    resolve: async () => ["93.184.215.14"],
    connect: async (_, { host }) => {
      asked.push(host);
      const port = receivers[host]?.port;
      if (port === undefined) throw Object.assign(new Error("refused"), { code: "ECONNREFUSED" });
      const socket = connect(port, "127.0.0.1");
      await once(socket, "connect");
      return socket;
    },
  };
}
