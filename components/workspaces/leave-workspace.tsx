"use client";

import { useRouter } from "next/navigation";
import { useState } from "react";
import { callApi } from "@/components/api";
import { Button } from "@/components/ui/button";
import { ConfirmDialog } from "@/components/ui/confirm-dialog";
import type { member } from "@/lib/contract/members";

/** The way out of a workspace, once somebody has said that they mean it. */
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
  const [isAsking, setAsking] = useState(false);
  const leave = async () => {
    await callApi<typeof member>("DELETE", `/api/v1/workspaces/${workspace}/members/${userId}`);
    // Where that is decides the service: to another workspace, or to making one.
    router.replace("/workspaces");
  };
  return (
    <div>
      <Button variant="outline" aria-haspopup="dialog" onClick={() => setAsking(true)}>
        Leave
      </Button>
      <ConfirmDialog
        open={isAsking}
        onOpenChange={setAsking}
        title={`Leave ${name}?`}
        confirm="Leave"
        onConfirm={leave}
      >
        You see nothing of it from now on, your connected assistants are disconnected, and invitations you
        made are revoked. Keys you made go on working. An admin can invite you again.
      </ConfirmDialog>
    </div>
  );
}
