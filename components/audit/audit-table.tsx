"use client";

import { ChevronRight } from "lucide-react";
import { Time } from "@/components/figures/time";
import type { TableColumn } from "@/components/table/column";
import { DataTable } from "@/components/table/data-table";
import type { RememberedViews } from "@/components/table/view-cookie";
import { Link } from "@/components/ui/link";
import type { AuditView } from "./audit-view";

/**
 * A page of the audit log: who changed what, when and from which address. Each entry unfolds the values before and after,
 * and links to similar entries. The server sorts and searches the whole log, so the table does not sort or search its page.
 */
export function AuditTable({
  entries,
  workspace,
  views,
}: {
  entries: AuditView[];
  workspace: string;
  views: RememberedViews;
}) {
  return (
    <DataTable
      id="audit"
      workspace={workspace}
      views={views}
      label="Changes"
      noun="change"
      rows={entries}
      columns={columns}
      rowId={({ id }) => id}
      isPage
    />
  );
}

const columns: TableColumn<AuditView>[] = [
  {
    id: "change",
    label: "Change",
    part: "name",
    value: ({ actor, change }) => `${actor} ${change}`,
    alsoSaved: [
      { label: "Who", value: ({ actor }) => actor },
      { label: "E-mail address", value: ({ actorEmail }) => actorEmail },
      { label: "Action", value: ({ action }) => action },
      { label: "Before", value: ({ differences }) => linesOf(differences, "before") },
      { label: "After", value: ({ differences }) => linesOf(differences, "after") },
    ],
    cell: (entry) => <Change entry={entry} />,
    className: "w-full",
  },
  {
    id: "address",
    label: "Address",
    value: ({ address }) => address,
    cell: ({ address }) => address,
    from: "md",
    cellClassName: "align-top! whitespace-nowrap text-muted-foreground text-xs leading-5",
  },
  {
    id: "at",
    label: "When",
    kind: "time",
    value: ({ at }) => at,
    cell: ({ at }) => <Time at={at} />,
    from: "sm",
    className: "w-20 min-w-20 whitespace-nowrap text-right",
    cellClassName: "align-top! text-muted-foreground text-xs leading-5",
  },
];

/** The values before or after a change, a line for each field. */
function linesOf(differences: AuditView["differences"], side: "before" | "after"): string | null {
  const lines = differences.flatMap(({ label, [side]: value }) =>
    value === null ? [] : `${label}: ${value}`,
  );
  return lines.length === 0 ? null : lines.join("\n");
}

function Change({ entry }: { entry: AuditView }) {
  const { actor, actorEmail, change, at, address } = entry;
  return (
    <details className="group">
      <summary className="grid list-none grid-cols-[auto_minmax(0,1fr)] gap-x-2 gap-y-0.5 rounded-sm [&::-webkit-details-marker]:hidden">
        <ChevronRight
          aria-hidden="true"
          className="mt-0.5 size-4 text-muted-foreground transition-transform duration-100 group-open:rotate-90"
        />
        <span className="[overflow-wrap:anywhere] group-hover:underline group-hover:decoration-border group-hover:underline-offset-4">
          <bdi className="font-medium" title={actorEmail ?? undefined}>
            {actor}
          </bdi>{" "}
          {change}
        </span>
        <span className="col-start-2 flex gap-3 text-muted-foreground text-xs sm:hidden">
          {address ? <span className="[overflow-wrap:anywhere]">{address}</span> : null}
          <Time at={at} className="whitespace-nowrap" />
        </span>
      </summary>
      <Differences entry={entry} />
    </details>
  );
}

function Differences({ entry: { differences, links } }: { entry: AuditView }) {
  return (
    <>
      {differences.length === 0 ? (
        <p className="pt-2 text-muted-foreground">No further details are recorded.</p>
      ) : (
        <dl className="mt-2 grid gap-x-6 gap-y-1.5 rounded-md border bg-muted px-3.5 py-3 sm:grid-cols-[11rem_minmax(0,1fr)]">
          {differences.map(({ label, before, after }) => (
            <div key={label} className="grid sm:contents">
              <dt className="text-muted-foreground">{label}</dt>
              <dd className="[overflow-wrap:anywhere]">
                {before === null ? null : (
                  <del className={after === null ? "" : "text-muted-foreground"}>{before}</del>
                )}
                {before !== null && after !== null ? (
                  <>
                    <span aria-hidden="true"> → </span>
                    <span className="sr-only">, now </span>
                  </>
                ) : null}
                {after === null ? null : <ins className="no-underline">{after}</ins>}
              </dd>
            </div>
          ))}
        </dl>
      )}
      <p className="flex flex-wrap gap-x-4 gap-y-1 pt-2 text-[13px]">
        {links.map(({ label, href }) => (
          <Link
            key={label}
            href={href}
            prefetch={false}
            className="text-muted-foreground underline underline-offset-4 [overflow-wrap:anywhere] hover:text-foreground"
          >
            {label}
          </Link>
        ))}
      </p>
    </>
  );
}
