import { callApi } from "@/components/requests/api";
import type { bulkAction, bulkActionRequest } from "@/lib/contract/spend/bulk-actions";

const pathOf = (workspace: string) => `/api/v1/workspaces/${workspace}/messages/bulk-actions`;

/** A bulk action on messages. `filters`: the parameters of the list's address. `set`: the changes, as typed. */
export type BulkRequest = {
  action: "void" | "correct";
  messages?: string[];
  filters?: Record<string, string>;
  set?: Record<string, unknown>;
};

type Body = Parameters<typeof callApi<typeof bulkAction, typeof bulkActionRequest>>[2];
const send = (workspace: string, body: object, signal?: AbortSignal) =>
  callApi<typeof bulkAction, typeof bulkActionRequest>("POST", pathOf(workspace), body as Body, signal);

/** What an action would do. @throws Problem */
export const previewBulk = (workspace: string, request: BulkRequest, signal: AbortSignal) =>
  send(workspace, { ...request, dry_run: true }, signal);

/** Changes many messages. @throws Problem */
export const changeBulk = (
  workspace: string,
  request: BulkRequest & { reason: string; idempotency_key: string },
) => send(workspace, request);

/** Undoes an action. @throws Problem */
export const undoBulk = (workspace: string, id: string) =>
  callApi<typeof bulkAction>("POST", `${pathOf(workspace)}/${id}/restore`);
