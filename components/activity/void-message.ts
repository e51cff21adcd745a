import { callApi } from "@/components/requests/api";
import type { correctRequest, messageVoid } from "@/lib/contract/ledger/corrections";
import type { messageDetail } from "@/lib/contract/spend/message-detail";
import { changeBulk } from "./bulk-action";

/** A new idempotency key for all attempts with one form, so that a second click does nothing. */
export const newAttempt = (): string => crypto.getRandomValues(new Uint32Array(4)).join("-");

const pathOf = (workspace: string, id: string) => `/api/v1/workspaces/${workspace}/messages/${id}`;

/**
 * Voids a cost as an action on one message, which can be undone.
 * @returns the id of the action, and of the message that is the void
 * @throws Problem
 */
export async function voidMessage(
  workspace: string,
  id: string,
  body: { reason: string; idempotency_key: string },
): Promise<{ action: string; message: string }> {
  const { id: action } = await changeBulk(workspace, { action: "void", messages: [id], ...body });
  const { voided_by: message } = await callApi<typeof messageDetail>("GET", pathOf(workspace, id));
  return { action: action ?? "", message: message ?? id };
}

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
