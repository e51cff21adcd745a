import type { WorkspaceRole } from "@/lib/contract/me";
import { type Permission, permissions, permissionsOf } from "@/lib/contract/permissions";

/** What the agent tools can use: what a client that asks for everything is told to ask for. */
export const toolScopes: readonly Permission[] = ["log_usage", "add_expenses", "read_summaries"];

/** Every scope there is. `offline_access` is taken and means nothing: every grant can be refreshed. */
export const knownScopes: readonly string[] = [...permissions, "offline_access"];

/**
 * The permissions that a `scope` parameter asks for, in the order of the specification; those of the tools where it asks
 * for none. Scopes that are not known are passed over, as OAuth allows: what was granted is said with the tokens.
 */
export function parseScope(scope: string | undefined): Permission[] {
  const asked = (scope ?? "").split(" ");
  const known = permissions.filter((permission) => asked.includes(permission));
  return withReading(known.length > 0 ? known : toolScopes);
}

/** Whoever may write may read: clients ask for one more scope at a time, and would ask again and again. */
export function withReading(wanted: readonly Permission[]): Permission[] {
  const known = permissions.filter((permission) => wanted.includes(permission));
  return known.length === 0
    ? []
    : permissions.filter((permission) => permission === "read_summaries" || known.includes(permission));
}

/** What of `wanted` somebody of this role can grant. */
export function grantable(wanted: readonly Permission[], role: WorkspaceRole): Permission[] {
  const held = permissionsOf(role);
  return withReading(wanted).filter((permission) => held.includes(permission));
}
