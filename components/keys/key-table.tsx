import { activityHref } from "@/components/filters/href";
import { Time } from "@/components/time";
import { Badge } from "@/components/ui/badge";
import { Meter } from "@/components/ui/meter";
import { Table, TableCell, TableHead, TableHeader, TableRow } from "@/components/ui/table";
import type { Permission } from "@/lib/contract/permissions";
import { KeyActions } from "./key-actions";
import { type KeyView, limitUsed, type ServiceAddresses } from "./key-view";
import { SpentOfLimit } from "./spent-of-limit";

type Context = { workspace: string; grantable: readonly Permission[]; addresses: ServiceAddresses };

/** API keys: what each may do, what it spent, and when it was last used. A phone shows the details below the name. */
export function KeyTable({ keys, label, ...context }: Context & { keys: KeyView[]; label: string }) {
  return (
    <Table aria-label={label}>
      <TableHeader>
        <TableRow>
          <TableHead className="pl-0">Key</TableHead>
          <TableHead className="text-right">
            Recorded<span className="max-sm:sr-only"> this month</span>
          </TableHead>
          <TableHead className="hidden md:table-cell">Last used</TableHead>
          <TableHead className="hidden md:table-cell">Expires</TableHead>
          <TableHead className="hidden lg:table-cell">Created by</TableHead>
          <TableHead className="w-9 pr-0 pl-0">
            <span className="sr-only">Actions</span>
          </TableHead>
        </TableRow>
      </TableHeader>
      {keys.map((key) => (
        <Row key={key.id} apiKey={key} {...context} />
      ))}
    </Table>
  );
}

/** One key. On a phone, its permissions are in a second row that is as wide as the screen. */
function Row({ apiKey: key, ...context }: Context & { apiKey: KeyView }) {
  const usedAt = key.last_used_at ? <Time at={key.last_used_at} /> : null;
  return (
    <tbody className="border-b last:border-0">
      <tr>
        <TableCell className="w-full min-w-32 pt-3 pb-1 pl-0 sm:pb-3">
          <div className="grid gap-1">
            <p className="flex flex-wrap items-center gap-x-2 gap-y-1">
              <span className="font-medium [overflow-wrap:anywhere]">{key.name}</span>
              <code className="font-mono text-muted-foreground text-xs">
                {key.prefix}…{key.last_four}
              </code>
              <Badges apiKey={key} />
            </p>
            <p className="hidden max-w-[68ch] text-[13px] text-muted-foreground [overflow-wrap:anywhere] sm:block">
              {key.summary}
            </p>
          </div>
        </TableCell>
        <TableCell className="pt-3 pb-1 text-right sm:pb-3">
          <Spent apiKey={key} workspace={context.workspace} />
        </TableCell>
        <TableCell className="hidden whitespace-nowrap py-3 md:table-cell">
          {usedAt ?? <Absent>never</Absent>}
        </TableCell>
        <TableCell className="hidden whitespace-nowrap py-3 md:table-cell">
          {key.expires_at ? <Time at={key.expires_at} /> : <Absent>never</Absent>}
        </TableCell>
        <TableCell className="hidden max-w-40 truncate py-3 lg:table-cell">
          <Creator apiKey={key} />
        </TableCell>
        <TableCell className="py-1.5 pr-0 pl-0">
          {key.can_edit ? <KeyActions apiKey={key} {...context} /> : null}
        </TableCell>
      </tr>
      <tr className="md:hidden">
        <TableCell colSpan={3} className="pt-0 pr-0 pb-3 pl-0 text-muted-foreground [overflow-wrap:anywhere]">
          <p className="text-[13px] sm:hidden">{key.summary}</p>
          <p className="pt-1 text-xs">
            {usedAt ? <>Used {usedAt}</> : "Never used"}
            {key.expires_at ? (
              <>
                {key.status === "expired" ? ", expired " : ", expires "}
                <Time at={key.expires_at} />
              </>
            ) : null}
          </p>
        </TableCell>
      </tr>
    </tbody>
  );
}

function Badges({ apiKey: { environment, kind, status, revoked_at: revoked } }: { apiKey: KeyView }) {
  return (
    <>
      {environment === "test" ? <Badge variant="outline">Test</Badge> : null}
      {kind === "environment" ? <Badge variant="outline">SVC_API_KEY</Badge> : null}
      {status === "expired" ? <Badge variant="warning">Expired</Badge> : null}
      {revoked ? (
        <Badge variant="destructive">
          Revoked <Time at={revoked} />
        </Badge>
      ) : null}
    </>
  );
}

/** What a key spent, with a meter of its monthly limit. */
function Spent({ apiKey: key, workspace }: { apiKey: KeyView; workspace: string }) {
  const used = limitUsed(key);
  return (
    <div className="ml-auto grid w-24 justify-items-end gap-1.5 sm:w-36">
      <SpentOfLimit
        href={activityHref(workspace, {
          key: key.id,
          environment: key.environment === "test" ? "test" : undefined,
        })}
        spent={key.spent}
        limit={key.monthly_limit}
      />
      {used === null ? null : (
        <Meter fraction={used} label={`Limit of ${key.name} used`} className="w-full" />
      )}
    </div>
  );
}

function Creator({ apiKey: { created_by: creator, created_at: at } }: { apiKey: KeyView }) {
  return (
    <span className="grid">
      {creator ? (
        <span className="truncate" title={creator.email}>
          {creator.name ?? creator.email}
        </span>
      ) : (
        <Absent>no member</Absent>
      )}
      <Time at={at} className="text-muted-foreground text-xs" />
    </span>
  );
}

function Absent({ children }: { children: string }) {
  return <span className="text-muted-foreground">{children}</span>;
}
