"use client";

import { useRouter } from "next/navigation";
import { useState } from "react";
import { callApi } from "@/components/api";
import { Button } from "@/components/ui/button";
import { ConfirmDialog } from "@/components/ui/confirm-dialog";
import { toast } from "@/components/ui/toaster";
import type { invitation } from "@/lib/contract/invitations";
import { membersId } from "./person";

/** Makes an invitation's link worth nothing, once somebody has said that they mean it. */
export function RevokeInvitation({ workspace, id, whose }: { workspace: string; id: string; whose: string }) {
  const router = useRouter();
  const [isAsking, setAsking] = useState(false);
  const revoke = async () => {
    await callApi<typeof invitation>("DELETE", `/api/v1/workspaces/${workspace}/invitations/${id}`);
    toast("The invitation is revoked.");
    router.refresh();
    // Its row, and the button the focus would return to, are about to go.
    requestAnimationFrame(() => document.getElementById(membersId)?.focus());
  };
  return (
    <>
      <Button
        variant="outline"
        size="sm"
        aria-haspopup="dialog"
        aria-label={`Revoke the invitation for ${whose}`}
        onClick={() => setAsking(true)}
      >
        Revoke
      </Button>
      <ConfirmDialog
        open={isAsking}
        onOpenChange={setAsking}
        title={`Revoke the invitation for ${whose}?`}
        confirm="Revoke"
        onConfirm={revoke}
      >
        Its link is worth nothing from now on. You can make another at any time.
      </ConfirmDialog>
    </>
  );
}
