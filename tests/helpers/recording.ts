import { apiClient } from "./client";
import type { Harness } from "./harness";
import type { KeyOptions } from "./keys";

/** A client of the harness's first service, with a key in a workspace of its own. */
export async function newClient(harness: Harness, options: KeyOptions = {}) {
  const workspace = await harness.fixtures.workspace();
  const { id: keyId, ...client } = await clientIn(harness, workspace, options);
  return { workspace, keyId, ...client };
}

/** A client of the harness's first service, with a new key in a workspace. */
export async function clientIn(harness: Harness, workspace: string, options: KeyOptions = {}) {
  const { id, secret } = await harness.fixtures.key(workspace, options);
  return { id, ...apiClient(harness.services[0]?.baseUrl ?? "", secret) };
}

export type Client = Awaited<ReturnType<typeof newClient>>;

/** Posts a message to a project. */
export const record = (client: Client, message: Record<string, unknown>, project = "checkout") =>
  client.post({ project, source: "api", message });

/** An expense in USD. */
export const expense = (amount: number) => ({ type: "expense", vendor: "v", amount });

/** The body of a project's spend. @param query with its question mark */
export const spendOf = async (client: Client, project: string, query = "") =>
  (await client.get(`/api/v1/projects/${project}/spend${query}`)).body as Record<string, never>;
