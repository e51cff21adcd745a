import type { ClientBase, Pool } from "pg";
import { createUser, findUser } from "./sign-in-queries";

/**
 * Creates an account of the local sign-in with its profile and personal workspace, for a seed or a test. Leaves an
 * existing account unchanged, including its password.
 * @param client logged in as the service, or as the owner of the schema
 * @returns the user's id
 */
export async function createLocalUser(
  client: Pool | ClientBase,
  account: { email: string; password: string; displayName?: string },
): Promise<string> {
  const { email, password, displayName } = account;
  const data = displayName === undefined ? {} : { display_name: displayName };
  const user = await createUser(email, password, data, client);
  const id = user?.id ?? (await findUser(email, client));
  if (!id) throw new Error(`The account ${email} could neither be made nor found.`);
  return id;
}
