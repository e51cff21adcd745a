"use client";

import { useRouter } from "next/navigation";
import { callApi } from "@/components/requests/api";
import { ConfirmButton } from "@/components/ui/confirm-dialog";
import type { member } from "@/lib/contract/access/members";

/** A button with which the signed-in user leaves a workspace, after a confirmation. */
export function LeaveWorkspace({
  workspace,
  name,
  userId,
}: {
  workspace: string;
  name: string;
  userId: string;
}) {
  const router = useRouter();
  const leave = async () => {
    await callApi<typeof member>("DELETE", `/api/v1/workspaces/${workspace}/members/${userId}`);
    // This page redirects to another workspace of the user.
    router.replace("/workspaces");
  };
  return (
    <div>
      <ConfirmButton label="Leave" title={`Leave ${name}?`} confirm="Leave" onConfirm={leave} refresh={false}>
        You lose access to the workspace, your connected assistants are disconnected, and invitations you
        created are revoked. Keys you created keep working. An admin can invite you again.
      </ConfirmButton>
    </div>
  );
}
