import { ChevronRight } from "lucide-react";
import { Time } from "@/components/time";
import { listDifferences } from "./differences";
import type { AuditEntry } from "./entry";
import { actorName, formatEntry } from "./format-entry";

/** The entries of the audit log: who changed what, when and from which address. Each unfolds the values before and after. */
export function AuditList({ entries }: { entries: AuditEntry[] }) {
  return (
    <ul className="grid text-sm" aria-label="Changes">
      {entries.map((entry) => (
        <li key={entry.id} className="border-t">
          <Entry entry={entry} />
        </li>
      ))}
    </ul>
  );
}

function Entry({ entry }: { entry: AuditEntry }) {
  const { actor, at, address } = entry;
  return (
    <details className="group py-2.5">
      <summary className="grid list-none grid-cols-[auto_minmax(0,1fr)] gap-x-2 gap-y-0.5 rounded-sm sm:grid-cols-[auto_minmax(0,1fr)_auto] [&::-webkit-details-marker]:hidden">
        <ChevronRight
          aria-hidden="true"
          className="mt-0.5 size-4 text-muted-foreground transition-transform duration-100 group-open:rotate-90"
        />
        <span className="[overflow-wrap:anywhere] group-hover:underline group-hover:decoration-border group-hover:underline-offset-4">
          <span className="font-medium" title={actor?.email ?? undefined}>
            {actorName(entry)}
          </span>{" "}
          {formatEntry(entry)}
        </span>
        <span className="col-start-2 flex gap-3 text-muted-foreground text-xs sm:col-start-3 sm:justify-end sm:pl-4 sm:leading-5">
          {address ? <span className="[overflow-wrap:anywhere]">{address}</span> : null}
          <Time at={at} className="whitespace-nowrap sm:w-20 sm:text-right" />
        </span>
      </summary>
      <Differences entry={entry} />
    </details>
  );
}

function Differences({ entry }: { entry: AuditEntry }) {
  const differences = listDifferences(entry);
  if (differences.length === 0)
    return <p className="pt-2 text-muted-foreground">No further details are recorded.</p>;
  return (
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
  );
}
