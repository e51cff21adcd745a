"use client";

import { ChevronDown, UserMinus } from "lucide-react";
import { useState } from "react";
import { callApi } from "@/components/requests/api";
import { useMutation } from "@/components/requests/use-mutation";
import { ConfirmDialog } from "@/components/ui/confirm-dialog";
import {
  DropdownMenu,
  DropdownMenuContent,
  DropdownMenuItem,
  DropdownMenuSeparator,
  DropdownMenuTrigger,
} from "@/components/ui/dropdown-menu";
import { toast } from "@/components/ui/toaster";
import type { WorkspaceRole } from "@/lib/contract/access/me";
import type { changeMemberRequest, member as memberSchema } from "@/lib/contract/access/members";
import { isAbove, membersId, roleLabel, roles, withArticle } from "./person";

/**
 * The menu of a member: change the role, or remove the member. A higher role is given at once and can be undone. Ownership, a
 * lower role and removal require a confirmation.
 */
export function MemberActions({
  workspace,
  userId,
  name,
  role,
  canAppointOwners,
}: {
  workspace: string;
  userId: string;
  name: string;
  role: WorkspaceRole;
  /** Whether the signed-in user may make others owners. */
  canAppointOwners: boolean;
}) {
  const [dialog, setDialog] = useState<WorkspaceRole | "removal">();
  const path = `/api/v1/workspaces/${workspace}/members/${userId}`;
  const changeRole = (next: WorkspaceRole) =>
    callApi<typeof memberSchema, typeof changeMemberRequest>("PATCH", path, { role: next });
  const { run, isPending } = useMutation(changeRole);
  const offered = roles.filter(({ value }) => canAppointOwners || value !== "owner");
  const noticeOf = (next: WorkspaceRole) => `${name} is ${withArticle(next)} now.`;

  const choose = async (next: WorkspaceRole) => {
    if (next === role) return;
    if (next === "owner" || isAbove(role, next)) return setDialog(next);
    if (await run(next)) toast(noticeOf(next), { label: "Undo", run: () => run(role) });
  };

  return (
    <>
      <DropdownMenu>
        <DropdownMenuTrigger
          variant="ghost"
          size="sm"
          aria-label={`Role of ${name}: ${roleLabel(role)}`}
          data-row-control
          disabled={isPending}
          className="gap-1 font-normal text-sm"
        >
          {roleLabel(role)}
          <ChevronDown aria-hidden="true" className="text-muted-foreground" />
        </DropdownMenuTrigger>
        <DropdownMenuContent aria-label={`Role of ${name}`} place="bottom-end" className="w-72">
          {offered.map(({ value, label, description }) => (
            <DropdownMenuItem key={value} checked={value === role} onSelect={() => choose(value)}>
              <span className="grid">
                {label}
                <span className="text-muted-foreground text-xs">{description}</span>
              </span>
            </DropdownMenuItem>
          ))}
          <DropdownMenuSeparator />
          <DropdownMenuItem destructive onSelect={() => setDialog("removal")}>
            <UserMinus aria-hidden="true" />
            Remove from the workspace
          </DropdownMenuItem>
        </DropdownMenuContent>
      </DropdownMenu>
      <ConfirmDialog
        open={dialog === "removal"}
        onOpenChange={() => setDialog(undefined)}
        title={`Remove ${name}?`}
        confirm="Remove"
        onConfirm={() => callApi<typeof memberSchema>("DELETE", path)}
        done={`${name} is no longer a member.`}
        focusAfter={membersId}
      >
        They lose access to this workspace, their connected assistants are disconnected, and invitations they
        created are revoked. <strong>Keys they created keep working</strong>: revoke those they should no
        longer have. What they recorded stays. This cannot be undone: to have them back, invite them again.
      </ConfirmDialog>
      {dialog !== undefined && dialog !== "removal" ? (
        <ConfirmDialog
          open
          onOpenChange={() => setDialog(undefined)}
          title={`Make ${name} ${withArticle(dialog)}?`}
          confirm={dialog === "owner" ? "Make them an owner" : "Change the role"}
          destructive={dialog === "owner"}
          onConfirm={() => changeRole(dialog)}
          done={noticeOf(dialog)}
        >
          {dialog === "owner"
            ? "They can do everything that you can, including removing you as an owner."
            : "Their connected assistants keep only what the lower role may do. Keys they created keep working. You can give the role back at any time."}
        </ConfirmDialog>
      ) : null}
    </>
  );
}
