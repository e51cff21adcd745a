import Link from "next/link";
import { Money } from "@/components/money";
import { Time } from "@/components/time";
import { Table, TableBody, TableCell, TableHead, TableHeader, TableRow } from "@/components/ui/table";
import { describeKey } from "@/lib/contract/describe-key";
import { ExactNumber } from "@/lib/contract/exact-number";
import type { ConnectionView } from "./connection-view";
import { Disconnect } from "./disconnect";

/** Assistants with what they may do, whose they are, and what they spent. On a phone, all that below the name. */
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
          <TableHead className="text-right">Spent this month</TableHead>
          <TableHead className="hidden md:table-cell">Last used</TableHead>
          <TableHead className="hidden md:table-cell">Connected by</TableHead>
          <TableHead className="pr-0 pl-0">
            <span className="sr-only">Disconnect</span>
          </TableHead>
        </TableRow>
      </TableHeader>
      <TableBody>
        {connections.map((connection) => (
          <Row key={connection.id} connection={connection} workspace={workspace} />
        ))}
      </TableBody>
    </Table>
  );
}

function Row({ connection, workspace }: { connection: ConnectionView; workspace: string }) {
  const { id, client, user, last_used_at: usedAt, created_at: createdAt, can_revoke: mayRevoke } = connection;
  const button = mayRevoke ? <Disconnect workspace={workspace} connection={connection} /> : null;
  const person = user.display_name ?? user.email;
  return (
    <TableRow>
      <TableCell className="w-full min-w-40 py-3 pl-0">
        <div className="grid justify-items-start gap-1">
          <p className="flex flex-wrap items-baseline gap-x-2">
            <span className="font-medium [overflow-wrap:anywhere]">{client.name}</span>
            <span className="text-muted-foreground text-xs [overflow-wrap:anywhere]">
              {client.host ?? `at ${client.redirect_host}, name not verified`}
            </span>
          </p>
          <p className="max-w-[68ch] text-[13px] text-muted-foreground [overflow-wrap:anywhere]">
            {describeConnection(connection)}
          </p>
          <p className="text-muted-foreground text-xs md:hidden">
            {person}, <Time at={createdAt} />
            {usedAt ? (
              <>
                {" "}
                · used <Time at={usedAt} />
              </>
            ) : (
              " · never used"
            )}
          </p>
          {button ? <div className="pt-1 sm:hidden">{button}</div> : null}
        </div>
      </TableCell>
      <TableCell className="py-3 text-right">
        <Link
          href={`/${workspace}/activity?key=${id}`}
          className="rounded-sm underline-offset-4 hover:underline"
        >
          <Money usd={connection.spent} figure="spent" />
        </Link>
        {connection.monthly_limit === null ? null : (
          <span className="block whitespace-nowrap text-muted-foreground text-xs">
            of <Money usd={connection.monthly_limit} figure="monthly_limit" />
          </span>
        )}
      </TableCell>
      <TableCell className="hidden whitespace-nowrap py-3 md:table-cell">
        {usedAt ? <Time at={usedAt} /> : <span className="text-muted-foreground">never</span>}
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
    </TableRow>
  );
}

/** As a key's, since it is held to the same conditions. */
function describeConnection({ permissions, project, monthly_limit: limit }: ConnectionView): string {
  return describeKey({ permissions, project, monthly_limit: limit === null ? null : new ExactNumber(limit) });
}
