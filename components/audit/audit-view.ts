import { hrefWith } from "@/components/filters/href";
import { type ChangedValue, listDifferences } from "./differences";
import type { AuditEntry } from "./entry";
import { actorName, formatEntry, noUser } from "./format-entry";

/** An entry of the audit log in words, so that a server component can pass it to a client component. */
export type AuditView = Pick<AuditEntry, "id" | "at" | "address" | "action"> & {
  actor: string;
  /** The address that the user had; null for the service itself. */
  actorEmail: string | null;
  /** What the actor did, as text that follows the actor's name. */
  change: string;
  differences: ChangedValue[];
  /** Links to related entries. */
  links: { label: string; href: string }[];
};

/** Maps an entry of the service's answer to an AuditView. @param path of the page */
export function toAuditView(entry: AuditEntry, path: string): AuditView {
  const { id, at, address, action, actor, key, subject } = entry;
  const link = (label: string, filter: Record<string, string>) => ({
    label,
    href: hrefWith(path, {}, filter),
  });
  return {
    id,
    at,
    address,
    action,
    actor: actorName(entry),
    actorEmail: actor?.email ?? null,
    change: formatEntry(entry),
    differences: listDifferences(entry),
    links: [
      ...(subject.id === null ? [] : [link("All changes of this", { subject: subject.id })]),
      key
        ? link(`All by ${actorName(entry)}`, { key: key.id })
        : link(`All by ${actor ? actorName(entry) : noUser.toLowerCase()}`, { actor: actor?.user_id ?? "" }),
      link(`All of ${action}`, { action }),
    ],
  };
}
