import type { ClientBase } from "pg";
import { json, text, uuid } from "@/lib/db/columns";
import { callFunction, selectAll } from "@/lib/db/query";
import { sql } from "@/lib/db/sql";
import { callAsService } from "@/lib/db/transaction";
import type { Destination, Standing } from "./registrar";

const telemetryRow = { id: uuid(), state: text(), destinations: json<Destination[]>() };

/** The registration of an account at its provider. @returns undefined where there is none */
export async function selectTelemetry(client: ClientBase, workspaceId: string, accountId: string) {
  const [found] = await selectAll(
    client,
    telemetryRow,
    sql`select id, state, destinations from public.provider_telemetry
      where workspace_id = ${workspaceId} and account_id = ${accountId}`,
  );
  return found;
}

// The rest runs as the service; what a user changes checks their role again.

/** Begins a registration. @param given `key_id`: the key that the provider will send with */
export function beginTelemetry(
  client: ClientBase,
  workspaceId: string,
  given: { id: string; account_id: string; key_id: string },
): Promise<"begun" | "no_account" | "taken"> {
  return callFunction(client, "private.begin_provider_telemetry", workspaceId, JSON.stringify(given));
}

/** What is known of a registration. Destinations stay where they are missing. */
export type NotedTelemetry = {
  workspace_id: string;
  id: string;
  state: Standing["state"] | "refused" | "failed";
  problem: string | null;
  destinations?: Destination[];
  tested?: boolean;
};

const noteFunction = "private.note_provider_telemetry";

/** Records what is known of a registration, for the user of the transaction. @returns false where it has ended meanwhile */
export function noteTelemetry(client: ClientBase, noted: NotedTelemetry): Promise<boolean> {
  return callFunction(client, noteFunction, JSON.stringify(noted));
}

/** Records what the service itself has read of a registration. */
export async function noteStanding(noted: NotedTelemetry): Promise<void> {
  await callAsService(noteFunction, JSON.stringify(noted));
}

/** Ends the registration of an account, and revokes its key. */
export async function endTelemetry(
  client: ClientBase,
  workspaceId: string,
  accountId: string,
): Promise<void> {
  await callFunction(client, "private.end_provider_telemetry", workspaceId, accountId);
}
