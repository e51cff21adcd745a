import { callApi } from "@/components/requests/api";
import type { correctRequest, messageVoid, voidRequest } from "@/lib/contract/ledger/corrections";

/** A new idempotency key for all attempts with one form, so that a second click does nothing. */
export const newAttempt = (): string => crypto.getRandomValues(new Uint32Array(4)).join("-");

const pathOf = (workspace: string, id: string) => `/api/v1/workspaces/${workspace}/messages/${id}`;

/** Voids a cost. @throws Problem */
export const voidMessage = (
  workspace: string,
  id: string,
  body: { reason: string; idempotency_key: string },
) => callApi<typeof messageVoid, typeof voidRequest>("POST", `${pathOf(workspace, id)}/void`, body);

/** Corrects a cost. @throws Problem */
export const correctMessage = (
  workspace: string,
  id: string,
  body: { reason: string; project: string; message: unknown; idempotency_key: string },
) =>
  callApi<typeof messageVoid, typeof correctRequest>(
    "POST",
    `${pathOf(workspace, id)}/correct`,
    body as Parameters<typeof callApi<typeof messageVoid, typeof correctRequest>>[2],
  );
