"use client";

import { useMemo } from "react";
import { Time } from "@/components/figures/time";
import { activityHref } from "@/components/filters/href";
import { LastUse } from "@/components/keys/last-use";
import { spentColumn } from "@/components/keys/spent-column";
import { SpentOfLimit } from "@/components/keys/spent-of-limit";
import { callApi } from "@/components/requests/api";
import { secondLine, type TableColumn } from "@/components/table/column";
import { DataTable } from "@/components/table/data-table";
import type { RememberedViews } from "@/components/table/view-cookie";
import { ConfirmButton } from "@/components/ui/confirm-dialog";
import type { revokedConnection } from "@/lib/contract/access/connections";
import { summarizeKey } from "@/lib/contract/access/summarize-key";
import { ExactNumber } from "@/lib/contract/values/exact-number";
import { type ConnectionView, connectionsId } from "./connection-view";

/** The connected assistants: what each may do, who connected it, and what it spent. A phone shows the details below the name. */
export function ConnectionTable({
  connections,
  workspace,
  views,
}: {
  connections: ConnectionView[];
  workspace: string;
  views: RememberedViews;
}) {
  const columns = useMemo(() => columnsOf(workspace), [workspace]);
  return (
    <DataTable
      id="connections"
      workspace={workspace}
      views={views}
      label="Connected assistants"
      noun="assistant"
      rows={connections}
      columns={columns}
      rowId={({ id }) => id}
      below={{
        render: (connection) => <Details connection={connection} workspace={workspace} />,
        until: "md",
      }}
    />
  );
}

const personOf = ({ user }: ConnectionView) => user.display_name ?? user.email;
const placeOf = ({ client }: ConnectionView) =>
  client.host ?? `at ${client.redirect_host}, name not verified`;

function columnsOf(workspace: string): TableColumn<ConnectionView>[] {
  return [
    {
      id: "name",
      label: "Assistant",
      part: "name",
      value: ({ client }) => client.name,
      alsoSaved: [
        { label: "Address", value: placeOf },
        { label: "May", value: summarizeConnection },
      ],
      text: (connection) =>
        `${connection.client.name} ${placeOf(connection)} ${summarizeConnection(connection)}`,
      cell: (connection) => <Name connection={connection} />,
      className: "w-full min-w-32",
    },
    spentColumn({
      cell: ({ id, spent, monthly_limit: limit }) => (
        <SpentOfLimit href={activityHref(workspace, { key: id })} spent={spent} limit={limit} />
      ),
      className: "max-sm:pr-0",
    }),
    {
      id: "last_used",
      label: "Last used",
      kind: "time",
      value: ({ last_used_at: at }) => at,
      cell: ({ last_used_at: at }) =>
        at ? <Time at={at} /> : <span className="text-muted-foreground">never</span>,
      from: "md",
      className: "whitespace-nowrap",
    },
    {
      id: "connected_by",
      label: "Connected by",
      value: personOf,
      alsoSaved: [{ label: "Connected", kind: "time", value: ({ created_at: at }) => at }],
      text: ({ user }) => `${user.display_name ?? ""} ${user.email}`,
      cell: (connection) => (
        <span className="grid">
          <span className="truncate" title={connection.user.email}>
            {personOf(connection)}
          </span>
          <Time at={connection.created_at} className={`text-muted-foreground text-xs ${secondLine}`} />
        </span>
      ),
      from: "md",
      className: "max-w-44",
    },
    {
      id: "actions",
      label: "Disconnect",
      part: "actions",
      cell: (connection) =>
        connection.can_revoke ? <Disconnect workspace={workspace} connection={connection} /> : null,
      from: "sm",
      className: "px-0",
    },
  ];
}

function Name({ connection }: { connection: ConnectionView }) {
  return (
    <div className="grid gap-1">
      <p className="flex flex-wrap items-baseline gap-x-2">
        <bdi className="font-medium [overflow-wrap:anywhere]">{connection.client.name}</bdi>
        <span className="text-muted-foreground text-xs [overflow-wrap:anywhere]">{placeOf(connection)}</span>
      </p>
      <p
        className={`hidden max-w-[68ch] text-[13px] text-muted-foreground [overflow-wrap:anywhere] sm:block ${secondLine}`}
      >
        {summarizeConnection(connection)}
      </p>
    </div>
  );
}

/** The details of a connection, shown below it at full width on a phone and a small screen. */
function Details({ connection, workspace }: { connection: ConnectionView; workspace: string }) {
  const { last_used_at: at, created_at: createdAt } = connection;
  return (
    <>
      <p className="text-[13px] sm:hidden">{summarizeConnection(connection)}</p>
      <p className="py-1 text-xs">
        {personOf(connection)}, <Time at={createdAt} />.{" "}
        {at ? (
          <>
            Used <Time at={at} />.
          </>
        ) : (
          "Never used."
        )}
      </p>
      {connection.can_revoke ? (
        <div className="pt-1 text-foreground sm:hidden">
          <Disconnect workspace={workspace} connection={connection} />
        </div>
      ) : null}
    </>
  );
}

/** A sentence that says what a connection may do, as for a key: both have the same conditions. */
function summarizeConnection({ permissions, project, monthly_limit: limit }: ConnectionView): string {
  return summarizeKey({
    permissions,
    project,
    monthly_limit: limit === null ? null : new ExactNumber(limit),
  });
}

/** A button that disconnects an assistant, after a confirmation. */
function Disconnect({ workspace, connection }: { workspace: string; connection: ConnectionView }) {
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
