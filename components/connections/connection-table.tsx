import { activityHref } from "@/components/filters/href";
import { SpentOfLimit } from "@/components/keys/spent-of-limit";
import { Time } from "@/components/time";
import { Table, TableCell, TableHead, TableHeader, TableRow } from "@/components/ui/table";
import { ExactNumber } from "@/lib/contract/exact-number";
import { summarizeKey } from "@/lib/contract/summarize-key";
import type { ConnectionView } from "./connection-view";
import { Disconnect } from "./disconnect";

/** The connected assistants: what each may do, who connected it, and what it spent. A phone shows the details below the name. */
export function ConnectionTable({
  connections,
  workspace,
}: {
  connections: ConnectionView[];
  workspace: string;
}) {
  return (
    <Table aria-label="Connected assistants">
      <TableHeader>
        <TableRow>
          <TableHead className="pl-0">Assistant</TableHead>
          <TableHead className="text-right max-sm:pr-0">
            Recorded<span className="max-sm:sr-only"> this month</span>
          </TableHead>
          <TableHead className="hidden md:table-cell">Last used</TableHead>
          <TableHead className="hidden md:table-cell">Connected by</TableHead>
          <TableHead className="hidden pr-0 pl-0 sm:table-cell">
            <span className="sr-only">Disconnect</span>
          </TableHead>
        </TableRow>
      </TableHeader>
      {connections.map((connection) => (
        <Row key={connection.id} connection={connection} workspace={workspace} />
      ))}
    </Table>
  );
}

/** One connection. On a phone, its permissions are in a second row that is as wide as the screen. */
function Row({ connection, workspace }: { connection: ConnectionView; workspace: string }) {
  const { id, client, user, last_used_at: at, created_at: createdAt } = connection;
  const button = connection.can_revoke ? <Disconnect workspace={workspace} connection={connection} /> : null;
  const person = user.display_name ?? user.email;
  const summary = summarizeConnection(connection);
  const usedAt = at ? <Time at={at} /> : null;
  return (
    <tbody className="border-b last:border-0">
      <tr>
        <TableCell className="w-full min-w-32 pt-3 pb-1 pl-0 sm:pb-3">
          <div className="grid gap-1">
            <p className="flex flex-wrap items-baseline gap-x-2">
              <span className="font-medium [overflow-wrap:anywhere]">{client.name}</span>
              <span className="text-muted-foreground text-xs [overflow-wrap:anywhere]">
                {client.host ?? `at ${client.redirect_host}, name not verified`}
              </span>
            </p>
            <p className="hidden max-w-[68ch] text-[13px] text-muted-foreground [overflow-wrap:anywhere] sm:block">
              {summary}
            </p>
          </div>
        </TableCell>
        <TableCell className="pt-3 pb-1 text-right max-sm:pr-0 sm:pb-3">
          <SpentOfLimit
            href={activityHref(workspace, { key: id })}
            spent={connection.spent}
            limit={connection.monthly_limit}
          />
        </TableCell>
        <TableCell className="hidden whitespace-nowrap py-3 md:table-cell">
          {usedAt ?? <span className="text-muted-foreground">never</span>}
        </TableCell>
        <TableCell className="hidden max-w-44 py-3 md:table-cell">
          <span className="grid">
            <span className="truncate" title={user.email}>
              {person}
            </span>
            <Time at={createdAt} className="text-muted-foreground text-xs" />
          </span>
        </TableCell>
        <TableCell className="hidden py-2.5 pr-0 pl-0 sm:table-cell">{button}</TableCell>
      </tr>
      <tr className="md:hidden">
        <TableCell colSpan={3} className="pt-0 pr-0 pb-3 pl-0 text-muted-foreground [overflow-wrap:anywhere]">
          <p className="text-[13px] sm:hidden">{summary}</p>
          <p className="py-1 text-xs">
            {person}, <Time at={createdAt} />. {usedAt ? <>Used {usedAt}.</> : "Never used."}
          </p>
          <div className="pt-1 text-foreground sm:hidden">{button}</div>
        </TableCell>
      </tr>
    </tbody>
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
