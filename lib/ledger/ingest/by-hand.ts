import type { z } from "zod";
import { requireMembership } from "@/lib/access/workspaces/membership";
import type { bulkResult } from "@/lib/contract/ledger/ingest-result";
import { asServiceWithin, asUser, type UserClaims } from "@/lib/db/transaction";
import { accepted, notFound } from "@/lib/errors";
import { toBulkResult } from "./bulk-result";
import { selectMemberKey } from "./ingest-queries";
import { ingestBulk } from "./service";

/**
 * Records up to a thousand messages as a signed-in member, in order, each with its own verdict. They are attributed to the member's own
 * key, which may record only with the sources `manual` and `import`.
 * @throws ServiceError not_found for users who are not members, permission_denied for viewers
 */
export async function recordByHand(
  claims: UserClaims,
  slug: string,
  call: { messages: unknown[]; environment: "live" | "test"; dryRun: boolean },
): Promise<z.output<typeof bulkResult>> {
  const keyId = await asUser(claims, async (client) => {
    const { id } = await requireMembership(client, claims, slug, "member");
    return asServiceWithin(client, () => selectMemberKey(client, id, call.environment));
  });
  // The membership ended after it was checked.
  if (keyId === null) throw notFound();
  const { outcome } = await ingestBulk({
    lookup: { by: "id", value: keyId },
    address: undefined,
    dryRun: call.dryRun,
    body: call.messages,
  });
  return toBulkResult(accepted(outcome));
}
