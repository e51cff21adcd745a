import { z } from "zod";
import type { WorkspaceRole } from "./me";

/** The permissions of a key. */
export const permissions = ["log_usage", "add_expenses", "manage_subscriptions", "read_summaries"] as const;
export const permission = z.enum(permissions).meta({ id: "Permission" });
export type Permission = z.infer<typeof permission>;

/**
 * The permissions of a member's role, and so the most that a key they make may have. The database has the same table
 * (`private.permissions_of_role`); a test compares the two.
 */
export function permissionsOf(role: WorkspaceRole): readonly Permission[] {
  return role === "viewer" ? ["read_summaries"] : permissions;
}
