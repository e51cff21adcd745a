import { randomUUID } from "node:crypto";
import type pg from "pg";
import type { WorkspaceRole } from "@/lib/contract/access/me";
import type { UserClaims } from "@/lib/db/transaction";
import type { Fixtures } from "./keys";

/** A user without a service that they signed up with. */
export type SqlUser = { id: string; email: string };

/** The claims of a user's token. */
export function claimsOf({ id, email }: SqlUser): UserClaims {
  return { sub: id, role: "authenticated", session_id: randomUUID(), email };
}

/** Creates a user by SQL, without a service. */
export async function createUser({ sql }: Fixtures): Promise<SqlUser> {
  const email = `${randomUUID()}@example.com`;
  const { rows } = await sql.query("select local_auth.create_user($1, null, '{}') ->> 'id' as id", [email]);
  return { id: String(rows[0].id), email };
}

/** Adds a user to a workspace. @param role a role of workspace members */
export async function addToWorkspace(
  { sql }: Fixtures,
  workspaceId: string,
  userId: string,
  role: string,
): Promise<void> {
  await sql.query("insert into public.workspace_members (workspace_id, user_id, role) values ($1, $2, $3)", [
    workspaceId,
    userId,
    role,
  ]);
}

/** Creates a user by SQL, without a service, and adds them to a workspace. @param role a role of workspace members */
export async function createMember(fixtures: Fixtures, workspaceId: string, role: string): Promise<SqlUser> {
  const user = await createUser(fixtures);
  await addToWorkspace(fixtures, workspaceId, user.id, role);
  return user;
}

/**
 * Creates a user of each role in a workspace, and a stranger, who owns another one.
 * @param other the stranger's workspace
 * @returns their ids
 */
export async function createMembers(
  fixtures: Fixtures,
  workspaceId: string,
  other: string,
): Promise<Record<WorkspaceRole | "stranger", string>> {
  const idOf = async (workspace: string, role: WorkspaceRole) =>
    (await createMember(fixtures, workspace, role)).id;
  return {
    owner: await idOf(workspaceId, "owner"),
    admin: await idOf(workspaceId, "admin"),
    member: await idOf(workspaceId, "member"),
    viewer: await idOf(workspaceId, "viewer"),
    stranger: await idOf(other, "owner"),
  };
}

/** Makes the rest of a transaction run as a signed-in user, as on a hosted project PostgREST does. @param claims of their token */
export async function actAs(
  client: pg.ClientBase,
  claims: { sub: string; email?: string; aal?: string },
): Promise<void> {
  await client.query(
    "select set_config('role', 'authenticated', true), set_config('request.jwt.claims', $1, true)",
    [JSON.stringify({ ...claims, role: "authenticated" })],
  );
}

/**
 * Runs a statement as a signed-in user, in a transaction of its own.
 * @param claims of the user's token
 * @param end what happens to what the statement changed
 * @throws the error of the statement, after a rollback
 */
export async function runAs(
  client: pg.ClientBase,
  claims: { sub: string; email?: string; aal?: string },
  end: "commit" | "rollback",
  sql: string,
  values: unknown[] = [],
): Promise<pg.QueryResult> {
  await client.query("begin");
  try {
    await actAs(client, claims);
    const result = await client.query(sql, values);
    await client.query(end);
    return result;
  } catch (error) {
    await client.query("rollback");
    throw error;
  }
}

/** Why a statement was refused: the name of a constraint, or that a grant or a policy was missing. Otherwise the message. */
export function refusalOf(error: unknown): string {
  const { message, constraint } = error as pg.DatabaseError;
  return constraint ?? (/permission denied|row-level security/.exec(message)?.[0] || message);
}
