import type { ClientBase } from "pg";
import type { Membership } from "@/lib/contract/access/me";
import { maxBulkMessages } from "@/lib/contract/ledger/limits";
import type { ActivityFilters } from "@/lib/contract/spend/activity-filters";
import type { BulkAction, BulkActionRequest } from "@/lib/contract/spend/bulk-actions";
import { clockOf } from "@/lib/contract/values/clock";
import type { UserClaims } from "@/lib/db/transaction";
import { validationFailed } from "@/lib/errors";
import { actOnMany, type Chosen } from "@/lib/ledger/corrections/bulk";
import { rangeOf } from "@/lib/spend/period";
import { readPage } from "./activity-page";
import type { ActivityPlace } from "./activity-queries";

/**
 * Voids or corrects many messages, named by their ids or by the filters of activity.
 * @throws ServiceError as `actOnMany`; validation_failed if more messages match than one action may change
 */
export function changeMany(
  claims: UserClaims,
  slug: string,
  request: BulkActionRequest,
): Promise<{ result: BulkAction; replayed: boolean }> {
  const { messages, filters } = request;
  return actOnMany(claims, slug, request, async (client, workspace, now) =>
    filters
      ? findMessages(client, workspace, filters, now)
      : { ids: [...new Set(messages?.map((id) => id.toLowerCase()))], skipped: 0 },
  );
}

/** Finds the matching messages that are neither voids nor voided. @throws ServiceError validation_failed for too many, or none */
async function findMessages(
  client: ClientBase,
  { id: workspaceId, time_zone: timeZone }: Membership,
  filters: ActivityFilters,
  now: number,
): Promise<Chosen> {
  const range = { ...rangeOf(filters, clockOf(timeZone, now).now), timeZone };
  const [found, skipped] = [new Set<string>(), new Set<string>()];
  let after: ActivityPlace | undefined;
  do {
    const page = await readPage(
      client,
      workspaceId,
      filters,
      range,
      { sort: "-time", after },
      maxBulkMessages,
    );
    for (const { id, voids, voided_by: voidedBy } of page.rows)
      (voids === null && voidedBy === null ? found : skipped).add(id);
    after = page.next;
  } while (after && found.size <= maxBulkMessages);
  if (found.size > maxBulkMessages) {
    const message = `match more than ${maxBulkMessages} messages, the most that one action changes; choose fewer days, or filter more`;
    throw validationFailed([{ path: "filters", message }]);
  }
  if (found.size === 0)
    throw validationFailed([{ path: "filters", message: "match no message that can be changed" }]);
  return { ids: [...found], skipped: skipped.size };
}
