import type { WorkspaceRole } from "@/lib/contract/access/me";
import { type Permission, permissions, permissionsOf } from "@/lib/contract/access/permissions";

/** The permissions that the agent tools use. A client should request all of them. */
export const toolScopes: readonly Permission[] = [
  "log_usage",
  "add_expenses",
  "read_summaries",
  "manage_alerts",
];

/** Every scope. `offline_access` is accepted without effect, because every grant has a refresh token. */
export const knownScopes: readonly string[] = [...permissions, "offline_access"];

/**
 * Parses a `scope` parameter into permissions, in the order of the specification. Without the parameter, those of the
 * agent tools. Unknown scopes are ignored, as OAuth allows; the token response says what was granted.
 */
export function parseScope(scope: string | undefined): Permission[] {
  const asked = (scope ?? "").split(" ");
  const known = permissions.filter((permission) => asked.includes(permission));
  return withReading(known.length > 0 ? known : toolScopes);
}

/** Adds `read_summaries` to other permissions: clients that lack it would ask the user again for the next tool. */
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
