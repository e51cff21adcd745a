import { z } from "zod";
import type { WorkspaceRole } from "./me";

/** What a key may be allowed to do (specification section 5). */
export const permissions = ["log_usage", "add_expenses", "manage_subscriptions", "read_summaries"] as const;
export const permission = z.enum(permissions).meta({ id: "Permission" });
export type Permission = z.infer<typeof permission>;

/**
 * What somebody of a role may do themselves, and so the most that a key they make may do. The database has the same table
 * (`private.permissions_of_role`); a test holds the two together.
 */
export function permissionsOf(role: WorkspaceRole): readonly Permission[] {
  return role === "viewer" ? ["read_summaries"] : permissions;
}
