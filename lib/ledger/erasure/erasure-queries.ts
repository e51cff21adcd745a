import type { ClientBase } from "pg";
import { bigint, nullable, type Row, text, timestamp, uuid } from "@/lib/db/columns";
import { callFunction, selectAll, selectOne } from "@/lib/db/query";
import { sql } from "@/lib/db/sql";

const erasureRow = {
  id: uuid(),
  pseudonym: text(),
  status: text<"pending" | "running" | "done">(),
  changed_count: bigint(),
  created_at: timestamp(),
  finished_at: nullable(timestamp()),
};

/** An erasure of a person as stored, without their name. */
export type ErasureRow = Row<typeof erasureRow>;

const columns = sql`id, pseudonym, status, changed_count, created_at, finished_at`;

/** Requests that a person be erased. */
export function insertErasure(client: ClientBase, workspaceId: string, user: string): Promise<ErasureRow> {
  return selectOne(
    client,
    erasureRow,
    sql`insert into public.erasures (workspace_id, end_user) values (${workspaceId}, ${user}) returning ${columns}`,
  );
}

/** A workspace's latest erasures, newest first. */
export function selectErasures(
  client: ClientBase,
  workspaceId: string,
  atMost: number,
): Promise<ErasureRow[]> {
  return selectAll(
    client,
    erasureRow,
    sql`select ${columns} from public.erasures where workspace_id = ${workspaceId}
      order by created_at desc, id limit ${atMost}`,
  );
}

/** Counts and lists what names a person in a workspace; see `private.find_person`. */
export function findPerson(
  client: ClientBase,
  workspaceId: string,
  user: string,
): Promise<{
  spellings: string[];
  message_count: number;
  billed_count: number;
  budgets: string[];
  api_keys: string[];
  provider_limits: string[];
  alert_count: number;
  audit_count: number;
  request_count: number;
  tags: string[];
}> {
  return callFunction(client, "private.find_person", workspaceId, user);
}

/** Carries out one step of an erasure. @returns how many postings and answers it changed; null if no erasure is left */
export function eraseSome(client: ClientBase, atMost: number): Promise<number | null> {
  return callFunction(client, "private.erase_some", atMost);
}
