"use client";

import { HandCoins } from "lucide-react";
import { useMemo } from "react";
import { Time } from "@/components/figures/time";
import { activityHref } from "@/components/filters/href";
import { secondLine, type TableColumn } from "@/components/table/column";
import { DataTable } from "@/components/table/data-table";
import type { RememberedViews } from "@/components/table/view-cookie";
import { Badge } from "@/components/ui/badge";
import { buttonVariants } from "@/components/ui/button";
import { Link } from "@/components/ui/link";
import { Meter } from "@/components/ui/meter";
import type { KeyPermission } from "@/lib/contract/access/permissions";
import { KeyActions } from "./key-actions";
import { type KeyView, limitUsed, presentLimit, type ServiceAddresses } from "./key-view";
import { spentColumn } from "./spent-column";
import { SpentOfLimit } from "./spent-of-limit";

type Context = {
  workspace: string;
  grantable: readonly KeyPermission[];
  addresses: ServiceAddresses;
  /** Whether the reader may ask for more of a limit. */
  canAsk: boolean;
};

/** API keys: what each may do, what it spent, and when it was last used. A phone shows the details below the name. */
export function KeyTable({
  keys,
  label,
  workspace,
  grantable,
  addresses,
  canAsk,
  views,
}: Context & { keys: KeyView[]; label: string; views: RememberedViews }) {
  const columns = useMemo(
    () => columnsOf({ workspace, grantable, addresses, canAsk }),
    [workspace, grantable, addresses, canAsk],
  );
  return (
    <DataTable
      id="keys"
      workspace={workspace}
      views={views}
      label={label}
      noun="key"
      rows={keys}
      columns={columns}
      rowId={({ id }) => id}
      below={{ render: (key) => <Details apiKey={key} />, until: "md" }}
    />
  );
}

function columnsOf(context: Context): TableColumn<KeyView>[] {
  return [
    {
      id: "name",
      label: "Key",
      part: "name",
      value: ({ name }) => name,
      alsoSaved: [
        { label: "Secret", value: ({ prefix, last_four: end }) => `${prefix}…${end}` },
        { label: "Environment", value: ({ environment }) => environment },
        { label: "Status", value: ({ status }) => status },
        { label: "May", value: ({ summary }) => summary },
      ],
      text: (key) =>
        [key.name, key.prefix, key.last_four, key.summary, key.environment === "test" && "test"].join(" "),
      cell: (key) => <Name apiKey={key} />,
      className: "w-full min-w-28",
    },
    spentColumn({ cell: (key) => <Spent apiKey={key} workspace={context.workspace} /> }),
    {
      id: "last_used",
      label: "Last used",
      kind: "time",
      value: ({ last_used_at: at }) => at,
      cell: ({ last_used_at: at }) => (at ? <Time at={at} /> : <Absent>never</Absent>),
      from: "md",
      className: "whitespace-nowrap",
    },
    {
      id: "expires",
      label: "Expires",
      kind: "time",
      value: ({ expires_at: at }) => at,
      cell: ({ expires_at: at }) => (at ? <Time at={at} /> : <Absent>never</Absent>),
      from: "md",
      className: "whitespace-nowrap",
    },
    {
      id: "created_by",
      label: "Created by",
      value: ({ created_by: creator }) => creator && (creator.name ?? creator.email),
      alsoSaved: [{ label: "Created", kind: "time", value: ({ created_at: at }) => at }],
      text: ({ created_by: creator }) => (creator ? `${creator.name ?? ""} ${creator.email}` : ""),
      cell: (key) => <Creator apiKey={key} />,
      from: "lg",
      className: "max-w-40 truncate",
    },
    {
      id: "actions",
      part: "actions",
      label: "Actions",
      cell: (key) =>
        key.can_edit ? <KeyActions apiKey={key} {...context} /> : <AskForMore apiKey={key} {...context} />,
      className: "w-9 px-0",
      cellClassName: "py-1.5 in-data-[density=compact]:py-0",
    },
  ];
}

/** A link to the form that requests a raise of the limit of a key, for members who may not change it. */
function AskForMore({ apiKey: key, workspace, canAsk }: Context & { apiKey: KeyView }) {
  if (!canAsk || key.kind !== "key" || key.status !== "active" || key.monthly_limit === null) return null;
  const label = `Ask for more of the limit of ${key.name}`;
  return (
    <Link
      href={`/${workspace}/budgets/requests?key=${key.id}`}
      prefetch={false}
      aria-label={label}
      title={label}
      className={buttonVariants({ variant: "ghost", size: "icon" })}
    >
      <HandCoins aria-hidden="true" />
    </Link>
  );
}

function Name({ apiKey: key }: { apiKey: KeyView }) {
  return (
    <div className="grid gap-1">
      <p className="flex flex-wrap items-center gap-x-2 gap-y-1">
        <bdi className="font-medium [overflow-wrap:anywhere] max-sm:line-clamp-3" title={key.name}>
          {key.name}
        </bdi>
        <code className="font-mono text-muted-foreground text-xs">
          {key.prefix}…{key.last_four}
        </code>
        <Badges apiKey={key} />
      </p>
      <p
        className={`hidden max-w-[68ch] text-[13px] text-muted-foreground [overflow-wrap:anywhere] sm:block ${secondLine}`}
      >
        {key.summary}
      </p>
    </div>
  );
}

/** The details of a key, shown below it at full width on a phone and a small screen. */
function Details({ apiKey: key }: { apiKey: KeyView }) {
  return (
    <>
      <p className="text-[13px] sm:hidden">{key.summary}</p>
      <p className="pt-1 text-xs">
        {key.last_used_at ? (
          <>
            Used <Time at={key.last_used_at} />
          </>
        ) : (
          "Never used"
        )}
        {key.expires_at ? (
          <>
            {key.status === "expired" ? ", expired " : ", expires "}
            <Time at={key.expires_at} />
          </>
        ) : null}
      </p>
    </>
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
    <div className="ml-auto grid min-w-24 justify-items-end gap-1.5 sm:min-w-36">
      <SpentOfLimit
        href={activityHref(workspace, {
          key: key.id,
          environment: key.environment === "test" ? "test" : undefined,
        })}
        spent={key.spent}
        limit={presentLimit(key)}
        raisedUntil={key.raise?.until}
      />
      {used === null ? null : (
        <Meter fraction={used} label={`Limit of ${key.name} used`} className={`w-full ${secondLine}`} />
      )}
    </div>
  );
}

function Creator({ apiKey: { created_by: creator, created_at: at } }: { apiKey: KeyView }) {
  return (
    <span className="grid">
      {creator ? (
        <span dir="auto" className="truncate text-left" title={creator.email}>
          {creator.name ?? creator.email}
        </span>
      ) : (
        <Absent>no member</Absent>
      )}
      <Time at={at} className={`text-muted-foreground text-xs ${secondLine}`} />
    </span>
  );
}

function Absent({ children }: { children: string }) {
  return <span className="text-muted-foreground">{children}</span>;
}
