import { z } from "zod";
import type { WorkspaceRole } from "./me";

/** The permissions of an API key, which anybody with its secret has. */
export const keyPermissions = [
  "log_usage",
  "add_expenses",
  "manage_subscriptions",
  "read_summaries",
] as const;
export const keyPermission = z.enum(keyPermissions).meta({ id: "Permission" });
export type KeyPermission = z.infer<typeof keyPermission>;

/** All permissions. Only connections can have `manage_alerts`, because it acts as the person who connected the program. */
export const permissions = [...keyPermissions, "manage_alerts"] as const;
export const permission = z.enum(permissions).meta({ id: "ConnectionPermission" });
export type Permission = z.infer<typeof permission>;

/**
 * The permissions of a member's role, which are also the most that a program connected by the member may have. The database has the
 * same table (`private.permissions_of_role`); a test compares the two.
 */
export function permissionsOf(role: WorkspaceRole): readonly Permission[] {
  return role === "viewer" ? ["read_summaries"] : permissions;
}

/** The permissions that a member of a role may give to an API key; `private.held_permissions` has the same. */
export function keyPermissionsOf(role: WorkspaceRole): readonly KeyPermission[] {
  return keyPermissions.filter((each) => permissionsOf(role).includes(each));
}
