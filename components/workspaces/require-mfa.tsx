"use client";

import { useState } from "react";
import { callApi } from "@/components/requests/api";
import { Alert } from "@/components/ui/alert";
import { ConfirmDialog } from "@/components/ui/confirm-dialog";
import { Link } from "@/components/ui/link";
import { Switch } from "@/components/ui/switch";
import type { Membership, membership } from "@/lib/contract/access/me";
import type { updateWorkspaceRequest } from "@/lib/contract/access/workspaces";

/**
 * A switch for admins that makes a workspace require two-factor authentication, after a confirmation.
 * @param props.hasProved whether the admin's session has passed two-factor authentication; otherwise they would lock themselves out
 */
export function RequireMfa({ workspace, hasProved }: { workspace: Membership; hasProved: boolean }) {
  const [isOpen, setOpen] = useState(false);
  const { slug, name, require_mfa: isRequired } = workspace;
  const change = () =>
    callApi<typeof membership, typeof updateWorkspaceRequest>("PATCH", `/api/v1/workspaces/${slug}`, {
      require_mfa: !isRequired,
    });
  if (!hasProved) {
    return (
      <Alert>
        Set up two-factor authentication in{" "}
        <Link href={`/${slug}/settings/account`} className="underline underline-offset-4">
          your own account
        </Link>{" "}
        first. Otherwise you would lock yourself out.
      </Alert>
    );
  }
  return (
    <>
      <Switch checked={isRequired} onCheckedChange={() => setOpen(true)} className="w-fit text-sm">
        Require two-factor authentication
      </Switch>
      <ConfirmDialog
        open={isOpen}
        onOpenChange={setOpen}
        title={`${isRequired ? "Stop requiring" : "Require"} two-factor authentication in ${name}?`}
        confirm={isRequired ? "Stop requiring it" : "Require it"}
        destructive={!isRequired}
        onConfirm={change}
        done={`Two-factor authentication is ${isRequired ? "no longer" : "now"} required.`}
      >
        {isRequired
          ? "Members can then use the workspace without a code."
          : "Members who have not set it up cannot use the workspace until they do. Connected assistants are disconnected and can be connected again. API keys keep working."}
      </ConfirmDialog>
    </>
  );
}
