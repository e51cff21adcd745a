import type { WorkspaceRole } from "@/lib/contract/access/me";
import { type Sql, sql } from "@/lib/db/sql";

/**
 * Condition: the messages of a key were recorded by a user, by hand, from a file or with an assistant. The policy of
 * `public.message_voids` has the same rule.
 * @param key an alias of `public.api_keys`, possibly of an outer join
 */
export function isOwnRecord(key: Sql, userId: string): Sql {
  return sql`coalesce(${key}.created_by = ${userId} and ${key}.kind in ('member', 'connection'), false)`;
}

/** Whether a role may void a message: owners and admins any, members their own. @param isOwn the result of `isOwnRecord` */
export function mayVoid(role: WorkspaceRole, isOwn: boolean): boolean {
  return role === "owner" || role === "admin" || (role === "member" && isOwn);
}
