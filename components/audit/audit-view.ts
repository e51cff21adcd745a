import { type Difference, listDifferences } from "./differences";
import type { AuditEntry } from "./entry";
import { actorName, formatEntry } from "./format-entry";

/** An entry of the audit log in words, so that a server component can pass it to a client component. */
export type AuditView = Pick<AuditEntry, "id" | "at" | "address" | "action"> & {
  actor: string;
  /** The address that the user had; null for the service itself. */
  actorEmail: string | null;
  /** What the actor did, to be read after the actor's name. */
  change: string;
  differences: Difference[];
};

/** Maps an entry of the service's answer to an AuditView. */
export function toAuditView(entry: AuditEntry): AuditView {
  const { id, at, address, action, actor } = entry;
  return {
    id,
    at,
    address,
    action,
    actor: actorName(entry),
    actorEmail: actor?.email ?? null,
    change: formatEntry(entry),
    differences: listDifferences(entry),
  };
}
