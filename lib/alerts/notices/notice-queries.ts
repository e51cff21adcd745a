import { callAsService } from "@/lib/db/transaction";

/** A mail about a deletion or its undo. Times are milliseconds since 1970. */
export type Notice = { id: string; recipient: string } & (
  | {
      kind: "workspace_deleted" | "workspace_restored";
      /** `by`: who did it. `erased_at` is null of one that was restored. */
      details: { name: string; slug: string; role: string; by: string | null; erased_at: number | null };
    }
  | { kind: "account_deleted" | "account_restored"; details: { erased_at: number | null } }
);

/** Takes notices that are due. One that is not forgotten is due again later. */
export function claimDeletionNotices(atMost: number): Promise<Notice[]> {
  return callAsService("private.claim_notices", atMost);
}

/** Deletes a notice that was sent. */
export async function forgetNotice(id: string): Promise<void> {
  await callAsService("private.forget_notice", id);
}
