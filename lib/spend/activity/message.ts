import { requireMembership } from "@/lib/access/workspaces/membership";
import type { MessageDetail } from "@/lib/contract/activity";
import { ExactNumber } from "@/lib/contract/exact-number";
import { toInstant } from "@/lib/contract/instant";
import { asServiceWithin, asUserReading, type UserClaims } from "@/lib/db/transaction";
import { notFound } from "@/lib/errors";
import { parseDecimal, sum, toText } from "@/lib/ledger/pricing/decimal";
import {
  type StoredEntry,
  type StoredLine,
  type StoredOrigin,
  selectIdempotencyKey,
  selectMessage,
} from "./message-queries";

/**
 * Everything about one message, for the workspace's members.
 * @throws ServiceError not_found for one that does not exist, and to strangers
 */
export function readMessage(claims: UserClaims, slug: string, id: string): Promise<MessageDetail> {
  return asUserReading(claims, async (client) => {
    const { id: workspaceId } = await requireMembership(client, claims, slug);
    const [first, ...others] = await selectMessage(client, workspaceId, id);
    if (!first) throw notFound();
    const key = await asServiceWithin(client, () => selectIdempotencyKey(client, workspaceId, id));
    return { ...toMessageDetail(first, [first, ...others]), idempotency_key: key };
  });
}

const exact = (text: string) => new ExactNumber(text);
const exactOrNull = (text: string | null) => (text === null ? null : exact(text));

function toMessageDetail(first: StoredEntry, entries: StoredEntry[]): Omit<MessageDetail, "idempotency_key"> {
  const { part: _, type, occurred_at: __, project_slug: ___, project_name: ____, items, ...message } = first;
  const { key_id, key_name, user_id, user_name, ...own } = message;
  return {
    ...own,
    message_type: type,
    created_at: toInstant(first.created_at.getTime()),
    // The two entries of an allocation sum to zero: what it moved is the first.
    amount_usd:
      type === "allocation"
        ? exact(first.amount_usd)
        : exact(toText(sum(entries.map(({ amount_usd }) => parseDecimal(amount_usd))))),
    quantity: exactOrNull(first.quantity),
    original_amount: exactOrNull(first.original_amount),
    price: toOrigin(first.price),
    key: key_id === null ? null : { id: key_id, name: key_name ?? "" },
    user: user_id === null ? null : { id: user_id, name: user_name ?? "" },
    entries: entries.map(({ part, occurred_at, project_slug, project_name, amount_usd }) => ({
      part,
      occurred_at: toInstant(occurred_at.getTime()),
      project_slug,
      project_name,
      amount_usd: exact(amount_usd),
    })),
    lines: items?.map(toLine) ?? [],
  };
}

function toLine({ model, feature, unit_type, cost_status, ...line }: StoredLine) {
  return {
    model: model ?? null,
    feature: feature ?? null,
    unit_type,
    quantity: exact(line.quantity),
    amount_usd: exact(line.amount_usd),
    cost_status,
    price: toOrigin(line.price),
  };
}

function toOrigin(price: StoredOrigin | null | undefined) {
  return price ? { ...price, rate: exact(price.rate) } : null;
}
