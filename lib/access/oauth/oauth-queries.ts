import type { ClientBase } from "pg";
import type { FullQuota } from "@/lib/access/throttle";
import type { Permission } from "@/lib/contract/access/permissions";
import { nullable, numeric, type Row, text, texts, timestamp, uuid } from "@/lib/db/columns";
import { execute, selectAll } from "@/lib/db/query";
import { empty, sql } from "@/lib/db/sql";
import { callAsService } from "@/lib/db/transaction";

/** A program that may ask users for a connection. */
export type Client = {
  id: string;
  kind: "registered" | "document";
  name: string;
  uri: string | null;
  redirect_uris: string[];
};

/** A stored consent request. `nonce` is a SHA-256 in hex. */
export type PendingConsent = {
  nonce: string;
  user_id: string;
  session_id: string;
  client_id: string;
  redirect_uri: string;
  state: string | null;
  code_challenge: string;
  resource: string;
  /** What the client requested: the most that an answer can allow. */
  wanted: readonly Permission[];
};

/** Identifies a consent request and the session that answers it. */
export type Answerer = Pick<PendingConsent, "nonce" | "user_id" | "session_id">;

/** What a user allowed. `code` is a SHA-256 in hex, the limit exact text. */
export type Allowance = {
  code: string;
  workspace_id: string;
  permissions: Permission[];
  project_id: string | null;
  monthly_limit: string | null;
};

/** The result of an exchange, or why it was refused. */
export type Exchanged =
  | { permissions: Permission[]; resource: string; refused?: never }
  | ({ refused: "rate" } & FullQuota)
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
        | "membership"
        | "workspace_deleted";
    };

/** Stores a client as its document describes it, and replaces what was stored before. */
export async function saveClient(client: Client): Promise<void> {
  await callAsService("private.save_oauth_client", JSON.stringify(client));
}

/** Stores a new client. Deletes the oldest clients that never asked a user, beyond `atMostUnused`. */
export async function insertClient(client: Client, atMostUnused: number): Promise<void> {
  await callAsService("private.register_oauth_client", JSON.stringify(client), atMostUnused);
}

/** @returns the client with this id, or null */
export function loadClient(id: string): Promise<Client | null> {
  return callAsService("private.load_oauth_client", id);
}

/** Stores a consent request. */
export async function askQuestion(question: PendingConsent): Promise<void> {
  await callAsService("private.ask_consent", JSON.stringify(question));
}

/** A consent request that can still be answered by this session; null if there is none. */
export function openQuestion(
  by: Answerer,
): Promise<Pick<PendingConsent, "client_id" | "redirect_uri" | "state" | "wanted"> | null> {
  return callAsService("private.open_question", by.nonce, by.user_id, by.session_id);
}

/** Answers a request. @returns whether this was the first answer */
export function answerQuestion(by: Answerer, allowance: Allowance | null): Promise<boolean> {
  return callAsService("private.decide_consent", JSON.stringify({ ...by, ...allowance }));
}

/** Exchanges an authorization code for tokens. All secrets are SHA-256 in hex. */
export function redeemCode(attempt: {
  code: string;
  client_id: string;
  redirect_uri: string | null;
  code_challenge: string;
  resource: string | null;
  access: string;
  refresh: string;
}): Promise<Exchanged> {
  return callAsService("private.redeem_code", JSON.stringify(attempt));
}

/**
 * Exchanges a refresh token for new tokens. All secrets are SHA-256 in hex.
 * @param attempt.resources the addresses that the grant may be for
 */
export function rotateRefreshToken(attempt: {
  token: string;
  client_id: string;
  resources: string[];
  access: string;
  refresh: string;
}): Promise<Exchanged> {
  return callAsService("private.rotate_refresh_token", JSON.stringify(attempt));
}

/** Revokes an access token, or a refresh token with its connection. @returns whether the client had such a token */
export function revokeToken(hash: string, clientId: string): Promise<boolean> {
  return callAsService("private.revoke_oauth_token", hash, clientId);
}

/** Stops advertising client documents for some seconds, in all processes; 0 advertises them again. */
export async function recordDocumentOutage(seconds: number): Promise<void> {
  await callAsService("private.note_document_outage", seconds);
}

/** Whether client documents are not advertised at present, because the outside network could not be reached. */
export function isDocumentOutage(): Promise<boolean> {
  return callAsService("private.is_document_outage");
}

/** Deletes rows that can no longer be used. @returns how many */
export function sweepOauth(atMost: number): Promise<number> {
  return callAsService("private.sweep_oauth", atMost);
}

const connectionRow = {
  id: uuid(),
  client_id: text(),
  client_kind: text<Client["kind"]>(),
  client_name: text(),
  client_uri: nullable(text()),
  redirect_uri: text(),
  user_id: uuid(),
  email: text(),
  display_name: nullable(text()),
  permissions: texts<Permission>(),
  project_id: nullable(uuid()),
  project_slug: nullable(text()),
  project_name: nullable(text()),
  monthly_limit: nullable(numeric()),
  spent: numeric(),
  created_at: timestamp(),
  last_used_at: nullable(timestamp()),
};

/** A connection as its workspace's members see it; amounts are exact text. */
export type ConnectionRow = Row<typeof connectionRow>;

/** A workspace's connections, newest first. @param of only those of this user and client */
export function selectConnections(
  client: ClientBase,
  workspaceId: string,
  of?: { userId: string; clientId: string },
): Promise<ConnectionRow[]> {
  return selectAll(
    client,
    connectionRow,
    sql`select c.id, c.client_id, c.client_kind, c.client_name, c.client_uri, c.redirect_uri, c.user_id, u.email,
       u.display_name, k.permissions, k.project_id, p.slug as project_slug, p.name as project_name,
       trim_scale(k.monthly_limit) as monthly_limit, trim_scale(coalesce(s.amount_usd, 0)) as spent, c.created_at,
       k.last_used_at
     from public.connections as c
     join public.api_keys as k on k.workspace_id = c.workspace_id and k.id = c.id
     join public.profiles as u on u.id = c.user_id
     left join public.projects as p on p.workspace_id = k.workspace_id and p.id = k.project_id
     left join public.key_spend as s on s.workspace_id = c.workspace_id and s.api_key_id = c.id
       and s.month = date_trunc('month', now() at time zone 'UTC')::date
     where c.workspace_id = ${workspaceId}
       ${of ? sql`and c.user_id = ${of.userId} and c.client_id = ${of.clientId}` : empty}
     order by c.created_at desc, c.id`,
  );
}

/** Deletes a connection. @returns whether it existed and the user may delete it */
export async function deleteConnection(
  client: ClientBase,
  workspaceId: string,
  id: string,
): Promise<boolean> {
  const deleted = await execute(
    client,
    sql`delete from public.connections where workspace_id = ${workspaceId} and id = ${id}`,
  );
  return deleted === 1;
}

/** The projects that a connection can be confined to, by slug: at most 500. */
export function selectChoosableProjects(
  client: ClientBase,
  workspaceId: string,
): Promise<{ id: string; slug: string; name: string }[]> {
  return selectAll(
    client,
    { id: uuid(), slug: text(), name: text() },
    sql`select id, slug, name from public.projects
      where workspace_id = ${workspaceId} and archived_at is null
      order by slug collate "C" limit 500`,
  );
}
