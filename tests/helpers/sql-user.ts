import { randomUUID } from "node:crypto";
import pg from "pg";
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
