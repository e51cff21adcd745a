import type { WorkspaceRole } from "@/lib/contract/me";
import { type Permission, permissions, permissionsOf } from "@/lib/contract/permissions";

/** The permissions that the agent tools use: what a client should request for all of them. */
export const toolScopes: readonly Permission[] = ["log_usage", "add_expenses", "read_summaries"];

/** Every scope. `offline_access` is accepted without effect: every grant can be refreshed. */
export const knownScopes: readonly string[] = [...permissions, "offline_access"];

/**
 * The permissions in a `scope` parameter, in the specification's order; those of the tools where it is absent. Unknown
 * scopes are ignored, as OAuth allows: the token response says what was granted.
 */
export function parseScope(scope: string | undefined): Permission[] {
  const asked = (scope ?? "").split(" ");
  const known = permissions.filter((permission) => asked.includes(permission));
  return withReading(known.length > 0 ? known : toolScopes);
}

/** Adds reading to writing: clients request one more scope at a time and would otherwise ask repeatedly. */
export function withReading(wanted: readonly Permission[]): Permission[] {
  const known = permissions.filter((permission) => wanted.includes(permission));
  return known.length === 0
    ? []
    : permissions.filter((permission) => permission === "read_summaries" || known.includes(permission));
}

/** The part of `wanted` that a role can grant. */
export function grantable(wanted: readonly Permission[], role: WorkspaceRole): Permission[] {
  const held = permissionsOf(role);
  return withReading(wanted).filter((permission) => held.includes(permission));
}
