import { randomUUID } from "node:crypto";
import pg from "pg";
import type { WorkspaceRole } from "@/lib/contract/me";
import type { OpenDatabase } from "./with-database";

/**
 * Creates a user by SQL, without a service, and adds them to a workspace.
 * @param role a role of workspace members
 * @returns the user's id
 */
export async function createMember(
  { database, fixtures }: Pick<OpenDatabase, "database" | "fixtures">,
  workspaceId: string,
  role: string,
): Promise<string> {
  const id = randomUUID();
  const superuser = new pg.Client({ connectionString: database.superuserUrl });
  await superuser.connect();
  await superuser.query("insert into auth.users (id, email) values ($1, $2)", [id, `${id}@example.com`]);
  await superuser.end();
  await fixtures.sql.query(
    "insert into public.workspace_members (workspace_id, user_id, role) values ($1, $2, $3)",
    [workspaceId, id, role],
  );
  return id;
}

/**
 * Creates a user of each role in a workspace, and a stranger, who owns another one.
 * @param other the stranger's workspace
 * @returns their ids
 */
export async function createMembers(
  open: Pick<OpenDatabase, "database" | "fixtures">,
  workspaceId: string,
  other: string,
): Promise<Record<WorkspaceRole | "stranger", string>> {
  return {
    owner: await createMember(open, workspaceId, "owner"),
    admin: await createMember(open, workspaceId, "admin"),
    member: await createMember(open, workspaceId, "member"),
    viewer: await createMember(open, workspaceId, "viewer"),
    stranger: await createMember(open, other, "owner"),
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
