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

/** All permissions. `manage_alerts` is for connections alone, because it acts in the name of the person who connected a program. */
export const permissions = [...keyPermissions, "manage_alerts"] as const;
export const permission = z.enum(permissions).meta({ id: "ConnectionPermission" });
export type Permission = z.infer<typeof permission>;

/**
 * The permissions of a member's role, and so the most that a program they connect may have. The database has the same table
 * (`private.permissions_of_role`); a test compares the two.
 */
export function permissionsOf(role: WorkspaceRole): readonly Permission[] {
  return role === "viewer" ? ["read_summaries"] : permissions;
}

/** Those of them that a key may have which a member makes; `private.held_permissions` has the same. */
export function keyPermissionsOf(role: WorkspaceRole): readonly KeyPermission[] {
  return keyPermissions.filter((each) => permissionsOf(role).includes(each));
}
