import type { z } from "zod";
import type { apiKey } from "@/lib/contract/access/api-keys";
import type { Membership } from "@/lib/contract/access/me";
import { summarizeKey } from "@/lib/contract/access/summarize-key";
import type { SourceSettings } from "@/lib/contract/sources/sources";
import { ExactNumber } from "@/lib/contract/values/exact-number";
import { dayOf, toInstant } from "@/lib/contract/values/instant";
import type { UserClaims } from "@/lib/db/transaction";
import type { StoredSource } from "@/lib/keys/api-key";
import type { KeyRow } from "./key-queries";

/** The user to whom a key is shown, with their membership of its workspace. */
type Viewer = { membership: Membership; claims: UserClaims };

/** Whether a user may edit, rotate and revoke a key: members the keys they created, admins and owners every key. */
export function mayManage(
  { kind, creator_id: creator }: KeyRow,
  { membership: { role }, claims }: Viewer,
): boolean {
  if (kind !== "key" || role === "viewer") return false;
  return role !== "member" || creator === claims.sub;
}

/** A key as the API returns it. @param viewer.now ms since 1970 */
export function toApiKey(row: KeyRow, viewer: Viewer & { now: number }): z.output<typeof apiKey> {
  const {
    creator,
    creator_id: _,
    monthly_limit: limit,
    spent,
    conditions,
    source_settings,
    ...columns
  } = row;
  const { raised_limit: raised, raised_until: until, ...rest } = columns;
  const key = {
    ...rest,
    conditions: {
      project_slugs: [],
      deny_project_slugs: [],
      features: [],
      sources: [],
      users: [],
      ...conditions,
    },
    monthly_limit: limit === null ? null : new ExactNumber(limit),
    raise:
      raised !== null && until !== null && until >= dayOf(viewer.now)
        ? { amount: new ExactNumber(raised), until }
        : null,
    spent: new ExactNumber(spent),
    expires_at: toInstantOrNull(row.expires_at),
    revoked_at: toInstantOrNull(row.revoked_at),
    rotated_at: toInstantOrNull(row.rotated_at),
    last_used_at: toInstantOrNull(row.last_used_at),
    created_at: toInstant(row.created_at.getTime()),
    created_by: creator,
    source: source_settings && toSourceSettings(source_settings),
  };
  return {
    ...key,
    status: keyStatusOf(row, viewer.now),
    can_edit: row.revoked_at === null && mayManage(row, viewer),
    summary: summarizeKey(key),
  };
}

/** The settings of a source as the API returns them, with defaults for those that are not set. */
export function toSourceSettings(stored: StoredSource): SourceSettings {
  return {
    program: null,
    project_attribute: null,
    default_project: null,
    feature_attribute: null,
    default_feature: null,
    tags: [],
    trusted_cost: null,
    subscription_covered: false,
    ...stored,
  };
}

/** The status of a key: `active`, `expired` or `revoked`. @param now milliseconds since 1970 */
export function keyStatusOf(
  { revoked_at: revoked, expires_at: end }: Pick<KeyRow, "revoked_at" | "expires_at">,
  now: number,
) {
  if (revoked) return "revoked";
  return end && end.getTime() <= now ? "expired" : "active";
}

function toInstantOrNull(date: Date | null): string | null {
  return date && toInstant(date.getTime());
}
