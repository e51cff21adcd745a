"use client";

import { callApi } from "@/components/requests/api";
import { ConfirmButton } from "@/components/ui/confirm-dialog";
import type { invitation } from "@/lib/contract/access/invitations";
import { membersId } from "./person";

/** A button that revokes an invitation, after a question. @param props.invitee whom it is for, in words */
export function RevokeInvitation({
  workspace,
  id,
  invitee,
}: {
  workspace: string;
  id: string;
  invitee: string;
}) {
  const path = `/api/v1/workspaces/${workspace}/invitations/${id}`;
  return (
    <ConfirmButton
      label="Revoke"
      aria-label={`Revoke the invitation for ${invitee}`}
      size="sm"
      title={`Revoke the invitation for ${invitee}?`}
      confirm="Revoke"
      onConfirm={() => callApi<typeof invitation>("DELETE", path)}
      done={`The invitation for ${invitee} is revoked.`}
      undo={{
        run: () => callApi<typeof invitation>("POST", `${path}/restore`),
        done: `The invitation for ${invitee} is open again.`,
      }}
      focusAfter={membersId}
    >
      Its link stops working at once. You can create another invitation at any time.
    </ConfirmButton>
  );
}
