"use client";

import Link from "next/link";
import { useRouter } from "next/navigation";
import { useState } from "react";
import { callApi } from "@/components/api";
import { Alert } from "@/components/ui/alert";
import { ConfirmDialog } from "@/components/ui/confirm-dialog";
import { Switch } from "@/components/ui/switch";
import { toast } from "@/components/ui/toaster";
import type { Membership, membership } from "@/lib/contract/me";
import type { updateWorkspaceRequest } from "@/lib/contract/workspaces";

/**
 * Whether a workspace requires two-factor authentication, for its admins to say.
 * @param hasProved whether the admin's own session gave a code: who did not would lock themselves out
 */
export function RequireMfa({ workspace, hasProved }: { workspace: Membership; hasProved: boolean }) {
  const router = useRouter();
  const [isAsking, setAsking] = useState(false);
  const { slug, name, require_mfa: isRequired } = workspace;
  const change = async () => {
    await callApi<typeof membership, typeof updateWorkspaceRequest>("PATCH", `/api/v1/workspaces/${slug}`, {
      require_mfa: !isRequired,
    });
    toast(
      isRequired
        ? "Two-factor authentication is not required any more."
        : "Two-factor authentication is required.",
    );
    router.refresh();
  };
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
      <Switch checked={isRequired} onCheckedChange={() => setAsking(true)} className="w-fit text-sm">
        Require two-factor authentication
      </Switch>
      <ConfirmDialog
        open={isAsking}
        onOpenChange={setAsking}
        title={`${isRequired ? "Stop requiring" : "Require"} two-factor authentication in ${name}?`}
        confirm={isRequired ? "Stop requiring it" : "Require it"}
        destructive={!isRequired}
        onConfirm={change}
      >
        {isRequired
          ? "Members see the workspace without a code from then on."
          : "Members who have not set it up see nothing of the workspace until they do. Connected assistants are disconnected and can be connected again. API keys go on working."}
      </ConfirmDialog>
    </>
  );
}
