"use client";

import { LastUse } from "@/components/keys/last-use";
import { callApi } from "@/components/requests/api";
import { ConfirmButton } from "@/components/ui/confirm-dialog";
import type { revokedConnection } from "@/lib/contract/access/connections";
import { type ConnectionView, connectionsId } from "./connection-view";

/** A button that disconnects an assistant, after a question. */
export function Disconnect({ workspace, connection }: { workspace: string; connection: ConnectionView }) {
  const { id, client, user } = connection;
  const path = `/api/v1/workspaces/${workspace}/connections/${id}`;
  return (
    <ConfirmButton
      label="Disconnect"
      aria-label={`Disconnect ${client.name} of ${user.display_name ?? user.email}`}
      size="sm"
      title={`Disconnect ${client.name}?`}
      confirm="Disconnect"
      onConfirm={() => callApi<typeof revokedConnection>("DELETE", path)}
      done={`${client.name} is disconnected.`}
      focusAfter={connectionsId}
    >
      <LastUse {...connection} /> It can no longer read or record anything. What it recorded stays. This
      cannot be undone: to connect it again, sign in from the assistant.
    </ConfirmButton>
  );
}
