"use client";

import { ChevronDown, UserMinus } from "lucide-react";
import { useRouter } from "next/navigation";
import { useState } from "react";
import { callApi } from "@/components/api";
import { ConfirmDialog } from "@/components/ui/confirm-dialog";
import {
  DropdownMenu,
  DropdownMenuContent,
  DropdownMenuItem,
  DropdownMenuSeparator,
  DropdownMenuTrigger,
} from "@/components/ui/dropdown-menu";
import { toast } from "@/components/ui/toaster";
import { useMutation } from "@/components/use-mutation";
import type { WorkspaceRole } from "@/lib/contract/me";
import type { changeMemberRequest, member as memberSchema } from "@/lib/contract/members";
import { isAbove, membersId, roleLabel, roles, withArticle } from "./person";

/** Gives a member another role, or takes them out of the workspace. What takes something from somebody asks first. */
export function MemberActions({
  workspace,
  userId,
  name,
  role,
  mayOwn,
}: {
  workspace: string;
  userId: string;
  name: string;
  role: WorkspaceRole;
  /** Whether the viewer decides who owns. */
  mayOwn: boolean;
}) {
  const router = useRouter();
  const [asking, setAsking] = useState<WorkspaceRole | "removal">();
  const path = `/api/v1/workspaces/${workspace}/members/${userId}`;
  const callWith = (next: WorkspaceRole) =>
    callApi<typeof memberSchema, typeof changeMemberRequest>("PATCH", path, { role: next });
  const raise = useMutation(callWith);
  const offered = roles.filter(({ value }) => mayOwn || value !== "owner");
  const says = (next: WorkspaceRole) => `${name} is ${withArticle(next)} now.`;

  const choose = async (next: WorkspaceRole) => {
    if (next === role) return;
    if (next === "owner" || isAbove(role, next)) return setAsking(next);
    if (await raise.run(next)) toast(says(next), { label: "Undo", run: () => raise.run(role) });
  };
  const change = async () => {
    if (asking === undefined || asking === "removal") return;
    await callWith(asking);
    toast(says(asking));
    router.refresh();
  };
  const remove = async () => {
    await callApi<typeof memberSchema>("DELETE", path);
    toast(`${name} is no member any more.`);
    router.refresh();
    // Their row, and the button the focus would return to, are about to go.
    requestAnimationFrame(() => document.getElementById(membersId)?.focus());
  };

  return (
    <>
      <DropdownMenu>
        <DropdownMenuTrigger
          variant="ghost"
          size="sm"
          aria-label={`Role of ${name}: ${roleLabel(role)}`}
          disabled={raise.isPending}
          className="gap-1 font-normal text-sm"
        >
          {roleLabel(role)}
          <ChevronDown aria-hidden="true" className="text-muted-foreground" />
        </DropdownMenuTrigger>
        <DropdownMenuContent aria-label={`Role of ${name}`} place="bottom-end" className="w-72">
          {offered.map(({ value, label, may }) => (
            <DropdownMenuItem key={value} checked={value === role} onSelect={() => choose(value)}>
              <span className="grid">
                {label}
                <span className="text-muted-foreground text-xs">{may}</span>
              </span>
            </DropdownMenuItem>
          ))}
          <DropdownMenuSeparator />
          <DropdownMenuItem destructive onSelect={() => setAsking("removal")}>
            <UserMinus aria-hidden="true" />
            Remove from the workspace
          </DropdownMenuItem>
        </DropdownMenuContent>
      </DropdownMenu>
      <ConfirmDialog
        open={asking === "removal"}
        onOpenChange={() => setAsking(undefined)}
        title={`Remove ${name}?`}
        confirm="Remove"
        onConfirm={remove}
      >
        They see nothing of this workspace from now on, their connected assistants are disconnected, and
        invitations they made are revoked. <strong>Keys they made go on working</strong>: revoke those they
        should not have any more. What they recorded stays.
      </ConfirmDialog>
      {asking !== undefined && asking !== "removal" ? (
        <ConfirmDialog
          open
          onOpenChange={() => setAsking(undefined)}
          title={`Make ${name} ${withArticle(asking)}?`}
          confirm={asking === "owner" ? "Make them an owner" : "Change the role"}
          destructive={asking === "owner"}
          onConfirm={change}
        >
          {asking === "owner"
            ? "They may do everything you may, take the ownership from you included."
            : "Their connected assistants keep only what the lesser role may do. Keys they made go on working. You can give the role back at any time."}
        </ConfirmDialog>
      ) : null}
    </>
  );
}
