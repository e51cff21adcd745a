"use client";

import { useRouter } from "next/navigation";
import { useRef, useState } from "react";
import { flushSync } from "react-dom";
import { callApi } from "@/components/api";
import { LastUse } from "@/components/keys/last-use";
import { Button } from "@/components/ui/button";
import { ConfirmDialog } from "@/components/ui/confirm-dialog";
import { toast } from "@/components/ui/toaster";
import type { revokedConnection } from "@/lib/contract/connections";
import { type ConnectionView, connectionsId } from "./connection-view";

/** Ends a connection, once somebody has said that they mean it. */
export function Disconnect({ workspace, connection }: { workspace: string; connection: ConnectionView }) {
  const router = useRouter();
  const [isAsking, setAsking] = useState(false);
  const isGone = useRef(false);
  const { id, client } = connection;
  const disconnect = async () => {
    await callApi<typeof revokedConnection>("DELETE", `/api/v1/workspaces/${workspace}/connections/${id}`);
    toast(`${client.name} is disconnected.`);
    isGone.current = true;
    router.refresh();
  };
  const close = () => {
    // First the dialog closes and gives the focus back to a button that is about to go with its row.
    flushSync(() => setAsking(false));
    if (isGone.current) document.getElementById(connectionsId)?.focus();
  };
  return (
    <>
      <Button
        variant="outline"
        size="sm"
        aria-haspopup="dialog"
        aria-label={`Disconnect ${client.name} of ${connection.user.display_name ?? connection.user.email}`}
        onClick={() => setAsking(true)}
      >
        Disconnect
      </Button>
      <ConfirmDialog
        open={isAsking}
        onOpenChange={close}
        title={`Disconnect ${client.name}?`}
        confirm="Disconnect"
        onConfirm={disconnect}
      >
        <LastUse {...connection} /> It can neither read nor record from now on; what it recorded stays. It can
        be connected again by signing in.
      </ConfirmDialog>
    </>
  );
}
