import type { PoolClient } from "pg";
import { requireMembership } from "@/lib/access/workspaces/membership";
import type { Membership } from "@/lib/contract/access/me";
import type { CorrectRequest, MessageVoid, VoidRequest } from "@/lib/contract/ledger/corrections";
import { ExactNumber } from "@/lib/contract/values/exact-number";
import { toInstant } from "@/lib/contract/values/instant";
import { asServiceWithin, asUser, type UserClaims } from "@/lib/db/transaction";
import { notFound, ServiceError } from "@/lib/errors";
import { requireMonths } from "@/lib/ledger/ingest/months";
import { combineStatuses } from "@/lib/ledger/pricing/cost-status";
import { followPublished } from "@/lib/ledger/published/follow";
import { hashOf, requireWithinBudgets, retryOnConflict } from "./attempts";
import {
  insertVoid,
  lockBlockingBudgets,
  type StoredCost,
  type StoredVoid,
  selectCost,
  selectVoid,
} from "./correction-queries";
import { replaceMessage } from "./replace";
import { mayVoid } from "./right";

/** The outcome of a request. `replayed`: the result is that of an earlier request with the same idempotency key. */
export type Voided = { result: MessageVoid; replayed: boolean };

/**
 * Voids a message: posts its entries once more with the opposite amounts, so that every sum is as if it had not been recorded. Nothing
 * is removed. Owners and admins void any message, members what they recorded by hand, from a file or with an assistant.
 * @throws ServiceError not_found; permission_denied; conflict for a voided message, a void, and a message whose entries were partly
 *   removed; idempotency_conflict; budget_exceeded if the void raises the spend of a blocking budget past its limit
 */
export function voidMessage(
  claims: UserClaims,
  slug: string,
  id: string,
  request: VoidRequest,
): Promise<Voided> {
  return voidOnce(claims, slug, id, request);
}

/**
 * Voids a message and records another in its place, in one transaction. The new message has the same key, source and environment, and
 * is priced at the present prices.
 * @throws ServiceError as `voidMessage`; validation_failed
 */
export function correctMessage(
  claims: UserClaims,
  slug: string,
  id: string,
  request: CorrectRequest,
): Promise<Voided> {
  return voidOnce(claims, slug, id, request, (client, workspace, cost, now) => {
    if (cost.type === "bill_adjustment")
      throw new ServiceError(
        "conflict",
        "This is an adjustment to a bill. Undo it on the page Reconciliation, and book what is missing then.",
      );
    return replaceMessage(client, workspace.id, { id, ...cost }, request, now);
  });
}

type Replace = (client: PoolClient, workspace: Membership, cost: StoredCost, now: number) => Promise<void>;

async function voidOnce(
  claims: UserClaims,
  slug: string,
  id: string,
  request: VoidRequest | CorrectRequest,
  replace?: Replace,
): Promise<Voided> {
  await followPublished();
  const { idempotency_key: idempotencyKey, ...meaning } = request;
  const requestHash = hashOf(meaning);
  return retryOnConflict(() =>
    asUser(claims, async (client, now) => {
      const workspace = await requireMembership(client, claims, slug, "member");
      const cost = await selectCost(client, workspace.id, id, claims.sub);
      if (!cost) throw notFound();
      demandRight(workspace, cost);
      const earlier = cost.voided_by === null ? undefined : await selectVoid(client, workspace.id, id);
      if (earlier) return { result: replay(earlier, idempotencyKey, requestHash), replayed: true };
      requireWhole(cost);
      // The void of a message in a closed month is booked now.
      requireMonths([toInstant(now)]);
      const { reason } = request;
      await asServiceWithin(client, () => lockBlockingBudgets(client, workspace.id));
      await insertVoid(client, {
        workspaceId: workspace.id,
        messageId: id,
        reason,
        idempotencyKey,
        requestHash,
      });
      await replace?.(client, workspace, cost, now);
      const stored = await selectVoid(client, workspace.id, id);
      if (!stored) throw new Error("The void of the message is missing.");
      const { void_id: voidId, corrected_by: correction } = stored;
      await requireWithinBudgets(client, workspace.id, correction === null ? [voidId] : [voidId, correction]);
      return { result: toMessageVoid(stored), replayed: false };
    }),
  );
}

function demandRight({ role }: Membership, { is_own: isOwn }: StoredCost): void {
  if (mayVoid(role, isOwn)) return;
  throw new ServiceError(
    "permission_denied",
    "Members void and correct what they recorded themselves, by hand, from a file or with an assistant. Ask an admin for anything else.",
    { role },
  );
}

function requireWhole({ voids, missing }: StoredCost): void {
  if (voids !== null)
    throw new ServiceError("conflict", "This is a void. Record the cost again instead of voiding its void.", {
      voids,
    });
  if (missing > 0) {
    throw new ServiceError(
      "conflict",
      "The operator has removed the messages of some months that this charge is spread over, so it cannot be voided as a whole.",
    );
  }
}

/** The first answer to a repeated request. @throws ServiceError if the request is a different one */
function replay(earlier: StoredVoid, key: string | undefined, requestHash: string): MessageVoid {
  if (key === undefined || earlier.idempotency_key !== key) {
    throw new ServiceError("conflict", "This message was voided before.", {
      void_id: earlier.void_id,
      corrected_by: earlier.corrected_by,
    });
  }
  if (earlier.request_hash === requestHash) return toMessageVoid(earlier);
  throw new ServiceError(
    "idempotency_conflict",
    `The idempotency key ${JSON.stringify(key)} was used for a different request. Use a new key for a new request.`,
  );
}

function toMessageVoid(stored: StoredVoid): MessageVoid {
  const { void_id, message_id, reason, created_at, corrected_by, correction } = stored;
  return {
    id: void_id,
    voids: message_id,
    reason,
    created_at: toInstant(created_at.getTime()),
    correction:
      corrected_by === null || !correction
        ? null
        : {
            id: corrected_by,
            amount_usd: new ExactNumber(correction.amount_usd),
            cost_status: combineStatuses(correction.cost_statuses),
          },
  };
}
