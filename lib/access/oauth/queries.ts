import type { ClientBase } from "pg";
import type { Refusal } from "@/lib/access/throttle";
import type { Permission } from "@/lib/contract/permissions";
import { asServiceAlone } from "@/lib/db/transaction";

/** A program that may ask users for a connection. */
export type Client = {
  id: string;
  kind: "registered" | "document";
  name: string;
  uri: string | null;
  redirect_uris: string[];
};

/** What a user is asked, as it is kept until they answer. `nonce` is a SHA-256 in hex. */
export type Question = {
  nonce: string;
  user_id: string;
  session_id: string;
  client_id: string;
  redirect_uri: string;
  state: string | null;
  code_challenge: string;
  resource: string;
  /** What the client asked for: the most that an answer can allow. */
  wanted: readonly Permission[];
};

/** Who answers which question. */
export type Answerer = Pick<Question, "nonce" | "user_id" | "session_id">;

/** What a user allowed. `code` is a SHA-256 in hex, the limit exact text. */
export type Allowance = {
  code: string;
  workspace_id: string;
  permissions: Permission[];
  project_id: string | null;
  monthly_limit: string | null;
};

/** What an exchange gave, or why it was refused. */
export type Exchanged =
  | { permissions: Permission[]; resource: string; refused?: never }
  | ({ refused: "rate" } & Refusal)
  | {
      refused:
        | "unknown"
        | "replayed"
        | "reused"
        | "expired"
        | "client"
        | "verifier"
        | "redirect"
        | "resource"
        | "membership";
    };

/** Calls a function of the service and answers its one value. */
async function call<T>(text: string, values: unknown[]): Promise<T> {
  return asServiceAlone(async (client) => {
    const { rows } = await client.query<{ answer: T }>(`select ${text} as answer`, values);
    return rows[0]?.answer as T;
  });
}

/** Keeps what a client's document says, in place of what was known of it. */
export async function saveClient(client: Client): Promise<void> {
  await call("private.save_oauth_client($1)", [JSON.stringify(client)]);
}

/** Keeps a new client. Beyond `atMostUnused` clients that no user was asked about, the oldest of those are deleted. */
export async function insertClient(client: Client, atMostUnused: number): Promise<void> {
  await call("private.register_oauth_client($1, $2)", [JSON.stringify(client), atMostUnused]);
}

export function loadClient(id: string): Promise<Client | null> {
  return call("private.load_oauth_client($1)", [id]);
}

export async function askQuestion(question: Question): Promise<void> {
  await call("private.ask_consent($1)", [JSON.stringify(question)]);
}

/** A question that can be answered still, by the session that was asked. */
export function openQuestion(
  by: Answerer,
): Promise<Pick<Question, "client_id" | "redirect_uri" | "state" | "wanted"> | null> {
  return call("private.open_question($1, $2, $3)", [by.nonce, by.user_id, by.session_id]);
}

/** Answers a question. @returns whether this was the answer: a question has one */
export function answerQuestion(by: Answerer, allowance: Allowance | null): Promise<boolean> {
  return call("private.decide_consent($1)", [JSON.stringify({ ...by, ...allowance })]);
}

/** Hashes are SHA-256 in hex. */
export function redeemCode(attempt: {
  code: string;
  client_id: string;
  redirect_uri: string | null;
  code_challenge: string;
  resource: string | null;
  access: string;
  refresh: string;
}): Promise<Exchanged> {
  return call("private.redeem_code($1)", [JSON.stringify(attempt)]);
}

/** @param attempt.resources the addresses that the grant may be for */
export function rotateRefreshToken(attempt: {
  token: string;
  client_id: string;
  resources: string[];
  access: string;
  refresh: string;
}): Promise<Exchanged> {
  return call("private.rotate_refresh_token($1)", [JSON.stringify(attempt)]);
}

/** Ends what a token stands for. @returns whether there was such a token of the client */
export function revokeToken(hash: string, clientId: string): Promise<boolean> {
  return call("private.revoke_oauth_token($1, $2)", [hash, clientId]);
}

/** Stops advertising client documents for so long, in all processes; 0 advertises them again. */
export async function noteDocumentOutage(seconds: number): Promise<void> {
  await call("private.note_document_outage($1)", [seconds]);
}

/** Whether client documents are not advertised at the moment, because the outside network could not be reached. */
export function isDocumentOutage(): Promise<boolean> {
  return call("private.is_document_outage()", []);
}

/** Forgets what can no longer be used. @returns how many rows */
export function sweepOauth(atMost: number): Promise<number> {
  return call("private.sweep_oauth($1)", [atMost]);
}

/** A connection as a member of its workspace sees it; amounts are exact text. */
export type ConnectionRow = {
  id: string;
  client_id: string;
  client_kind: Client["kind"];
  client_name: string;
  client_uri: string | null;
  redirect_uri: string;
  user_id: string;
  email: string;
  display_name: string | null;
  permissions: Permission[];
  project_id: string | null;
  project_slug: string | null;
  project_name: string | null;
  monthly_limit: string | null;
  spent: string;
  created_at: Date;
  last_used_at: Date | null;
};

/** The workspace's connections, the latest first. @param of one user and client alone */
export async function selectConnections(
  client: ClientBase,
  workspaceId: string,
  of?: { userId: string; clientId: string },
): Promise<ConnectionRow[]> {
  const { rows } = await client.query<ConnectionRow>(
    `select c.id, c.client_id, c.client_kind, c.client_name, c.client_uri, c.redirect_uri, c.user_id, u.email,
       u.display_name, k.permissions, k.project_id, p.slug as project_slug, p.name as project_name,
       trim_scale(k.monthly_limit) as monthly_limit, trim_scale(coalesce(s.amount_usd, 0)) as spent, c.created_at,
       k.last_used_at
     from public.connections as c
     join public.api_keys as k on k.workspace_id = c.workspace_id and k.id = c.id
     join public.profiles as u on u.id = c.user_id
     left join public.projects as p on p.workspace_id = k.workspace_id and p.id = k.project_id
     left join public.key_spend as s on s.workspace_id = c.workspace_id and s.api_key_id = c.id
       and s.month = date_trunc('month', now() at time zone 'UTC')::date
     where c.workspace_id = $1 and ($2::uuid is null or (c.user_id = $2 and c.client_id = $3))
     order by c.created_at desc, c.id`,
    [workspaceId, of?.userId ?? null, of?.clientId ?? null],
  );
  return rows;
}

/** Ends a connection. @returns whether it was there, and the user's to end */
export async function deleteConnection(
  client: ClientBase,
  workspaceId: string,
  id: string,
): Promise<boolean> {
  const { rowCount } = await client.query(
    "delete from public.connections where workspace_id = $1 and id = $2",
    [workspaceId, id],
  );
  return rowCount === 1;
}

/** The projects a connection can be confined to, by slug. */
export async function selectProjects(
  client: ClientBase,
  workspaceId: string,
): Promise<{ id: string; slug: string; name: string }[]> {
  const { rows } = await client.query(
    `select id, slug, name from public.projects where workspace_id = $1 and archived_at is null
     order by slug collate "C" limit 500`,
    [workspaceId],
  );
  return rows;
}
