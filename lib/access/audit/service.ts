import { parse } from "lossless-json";
import { z } from "zod";
import { requireMembership } from "@/lib/access/workspaces/membership";
import { type AuditQuery, type auditList, maxSearchedEntries } from "@/lib/contract/access/audit";
import { ExactNumber } from "@/lib/contract/values/exact-number";
import { instant } from "@/lib/contract/values/fields";
import { toInstant } from "@/lib/contract/values/instant";
import { cursorOf } from "@/lib/db/cursor";
import { asUserReading, type UserClaims } from "@/lib/db/transaction";
import {
  type AuditPlace,
  type AuditRow,
  isSearch,
  readInOrder,
  selectEntries,
  selectLastSearched,
} from "./audit-queries";

type AuditList = z.output<typeof auditList>;

const places = cursorOf<AuditPlace>(z.object({ at: z.iso.datetime().pipe(instant), id: z.uuid() }));

/**
 * Lists who changed what in a workspace, the newest or the oldest first, for its admins. A search reads a limited number of
 * entries, so its page may be short or empty although more entries follow.
 * @throws ServiceError not_found, permission_denied, validation_failed for an invalid cursor
 */
export async function listAudit(claims: UserClaims, slug: string, query: AuditQuery): Promise<AuditList> {
  const { limit, cursor, ...asked } = query;
  const after = cursor === undefined ? null : places.read(cursor);
  return asUserReading(claims, async (client) => {
    const { id, time_zone: timeZone } = await requireMembership(client, claims, slug, "admin");
    const filters = { ...asked, timeZone };
    await readInOrder(client);
    const searched = { after, amongFirst: maxSearchedEntries };
    // Reads one entry more than the page holds, to learn whether there is another page.
    const rows = await selectEntries(client, id, filters, { ...searched, atMost: limit + 1 });
    const shown = rows.slice(0, limit);
    const last = rows.length > limit ? shown.at(-1) : undefined;
    const next = last
      ? { at: last.place_at, id: last.id }
      : isSearch(filters) && (await selectLastSearched(client, id, filters, searched));
    return { entries: shown.map(toEntry), next_cursor: next ? places.write(next) : null };
  });
}

function toEntry({ id, at, action, kind, subject_id, before, after, address, ...actor }: AuditRow) {
  return {
    id,
    at: toInstant(at.getTime()),
    actor:
      actor.actor_id === null
        ? null
        : { user_id: actor.actor_id, email: actor.actor_email, display_name: actor.actor_name },
    key: actor.actor_key_id === null ? null : { id: actor.actor_key_id, name: actor.actor_key },
    action,
    subject: { kind, id: subject_id },
    before: parseRow(before),
    after: parseRow(after),
    address,
  };
}

/** Parses a stored row, whose numbers keep all their digits. */
function parseRow(text: string | null): Record<string, unknown> | null {
  if (text === null) return null;
  return parse(text, null, { parseNumber: (digits) => new ExactNumber(digits) }) as Record<string, unknown>;
}
