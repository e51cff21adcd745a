"use client";

import { ConfirmButton, deletion } from "@/components/ui/confirm-dialog";
import { membersId } from "./person";

/** A button that revokes an invitation, after a confirmation. @param props.invitee whom it is for, in words */
export function RevokeInvitation({
  workspace,
  id,
  invitee,
}: {
  workspace: string;
  id: string;
  invitee: string;
}) {
  return (
    <ConfirmButton
      label="Revoke"
      aria-label={`Revoke the invitation for ${invitee}`}
      size="sm"
      title={`Revoke the invitation for ${invitee}?`}
      confirm="Revoke"
      {...deletion(`/api/v1/workspaces/${workspace}/invitations/${id}`, {
        done: `The invitation for ${invitee} is revoked.`,
        undone: `The invitation for ${invitee} is open again.`,
      })}
      focusAfter={membersId}
    >
      Its link stops working at once. You can create another invitation at any time.
    </ConfirmButton>
  );
}
