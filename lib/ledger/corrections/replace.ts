import type { PoolClient } from "pg";
import type { CorrectRequest } from "@/lib/contract/ledger/corrections";
import type { CostMessage } from "@/lib/contract/ledger/message";
import { toInstant } from "@/lib/contract/values/instant";
import { newId } from "@/lib/db/new-id";
import { asServiceWithin } from "@/lib/db/transaction";
import { validationFailed } from "@/lib/errors";
import { checkMessage } from "@/lib/ledger/ingest/check";
import { type CostedMessage, composeMessage } from "@/lib/ledger/ingest/compose";
import { requireMonths } from "@/lib/ledger/ingest/months";
import { presentPrices } from "@/lib/ledger/pricing/workspace-prices";
import { recordCorrection, type StoredCost, selectProjectId } from "./correction-queries";

/**
 * Records the message that replaces one which the transaction has voided.
 * @param now milliseconds since 1970
 * @throws ServiceError validation_failed
 */
export async function replaceMessage(
  client: PoolClient,
  workspaceId: string,
  original: StoredCost & { id: string },
  request: CorrectRequest,
  now: number,
): Promise<void> {
  const message = correctable({
    ...request.message,
    occurred_at: request.message.occurred_at ?? original.occurred_at.toISOString(),
  });
  const invalid = checkMessage(message, now);
  if (invalid) throw invalid;
  const projectId = await selectProjectId(client, workspaceId, request.project);
  if (projectId === undefined) {
    throw validationFailed([
      { path: "project", message: `there is no project ${request.project} in this workspace` },
    ]);
  }
  await asServiceWithin(client, async () => {
    const overrides = await presentPrices(client, workspaceId);
    const { postings } = composeMessage(message, { now, overrides });
    requireMonths(postings.map((posting) => posting.occurred_at));
    const owner = { id: newId(), created_at: toInstant(now), project_id: projectId };
    const rows = postings.map((posting) => ({ ...owner, ...posting }));
    await recordCorrection(client, workspaceId, original.id, rows);
  });
}

/** Refuses messages that cannot replace another: allocations and recurring subscriptions. @throws ServiceError validation_failed */
function correctable(message: CostMessage): CostedMessage {
  if (message.type === "allocation") {
    throw validationFailed([
      {
        path: "message.type",
        message: "an allocation cannot correct another message; void that one, and record the allocation",
      },
    ]);
  }
  if (message.type === "subscription" && message.recurring) {
    throw validationFailed([
      {
        path: "message.recurring",
        message: "must be left out: a correction is one charge. Record a recurring subscription by itself",
      },
    ]);
  }
  return message;
}
