import { requireMembership } from "@/lib/access/workspaces/membership";
import { fromTagList } from "@/lib/contract/ledger/attribution";
import type { MessageDetail } from "@/lib/contract/spend/message-detail";
import { ExactNumber } from "@/lib/contract/values/exact-number";
import { toInstant } from "@/lib/contract/values/instant";
import { asServiceWithin, asUserReading, type UserClaims } from "@/lib/db/transaction";
import { parseDecimal, sum, toText } from "@/lib/decimal";
import { notFound } from "@/lib/errors";
import { mayVoid } from "@/lib/ledger/corrections/right";
import { combineStatuses } from "@/lib/ledger/pricing/cost-status";
import {
  type StoredOrigin,
  type StoredPosting,
  selectIdempotencyKey,
  selectMessage,
  selectWatchers,
} from "./message-queries";
import { selectSessionTotal } from "./session-queries";
import { toTotal } from "./sessions";

/**
 * Reads everything about one message, for the workspace's members.
 * @throws ServiceError not_found if the message does not exist or the caller is no member
 */
export function readMessage(claims: UserClaims, slug: string, id: string): Promise<MessageDetail> {
  return asUserReading(claims, async (client) => {
    const { id: workspaceId, role } = await requireMembership(client, claims, slug);
    const [first, ...others] = await selectMessage(client, workspaceId, id, claims.sub);
    if (!first) throw notFound();
    const isVoidable = first.voids === null && first.voided_by === null;
    const [key, watchers] = await asServiceWithin(client, async () => [
      await selectIdempotencyKey(client, workspaceId, id),
      await selectWatchers(client, workspaceId, id),
    ]);
    const detail = toMessageDetail(first, [first, ...others]);
    const { session, environment } = detail;
    const total =
      session === null ? undefined : await selectSessionTotal(client, workspaceId, environment, session);
    return {
      ...detail,
      session_total: total ? toTotal(total) : null,
      idempotency_key: key,
      budgets: watchers.budgets,
      alerts: watchers.alerts.map((alert) => ({ ...alert, fired_at: toInstant(Date.parse(alert.fired_at)) })),
      may_void: isVoidable && mayVoid(role, first.is_own),
    };
  });
}

const exact = (text: string) => new ExactNumber(text);
const exactOrNull = (text: string | null) => (text === null ? null : exact(text));

function toMessageDetail(
  first: StoredPosting,
  postings: StoredPosting[],
): Omit<MessageDetail, "idempotency_key" | "session_total" | "may_void" | "budgets" | "alerts"> {
  const isBatch = first.type === "batch";
  const hasLines = isBatch || (first.type === "usage" && postings.length > 1);
  const {
    part: _,
    is_own: _____,
    type,
    occurred_at: __,
    adjusts: ______,
    project_slug: ___,
    project_name: ____,
    ...message
  } = first;
  const { key_id, key_name, user_id, user_name, ...own } = {
    ...message,
    ...(hasLines && noLine),
    ...(isBatch && { model: null, feature: null, end_user: null, session: null }),
  };
  const listPrices = postings.flatMap(({ list_price_usd: price }) => price ?? []);
  const amount = sum(postings.map(({ amount_usd }) => parseDecimal(amount_usd)));
  return {
    ...own,
    message_type: type,
    created_at: toInstant(first.created_at.getTime()),
    voided_at: first.voided_at && toInstant(first.voided_at.getTime()),
    // The two sides of an allocation sum to zero, so its amount is that of the first side.
    amount_usd: exact(type === "allocation" ? first.amount_usd : toText(amount)),
    cost_status: combineStatuses(postings.map(({ cost_status }) => cost_status)),
    quantity: exactOrNull(own.quantity),
    tags: fromTagList(first.tags),
    list_price_usd: listPrices.length === 0 ? null : exact(toText(sum(listPrices.map(parseDecimal)))),
    given_cost_usd: exactOrNull(first.given_cost_usd),
    original_amount: exactOrNull(first.original_amount),
    price: toOrigin(own.price),
    key: key_id === null ? null : { id: key_id, name: key_name ?? "" },
    user: user_id === null ? null : { id: user_id, name: user_name ?? "" },
    entries: (hasLines ? [{ ...first, amount_usd: toText(amount) }] : postings).map(toEntry),
    lines: hasLines ? postings.map(toLine) : [],
  };
}

/** The fields of an entry with lines that only its lines have. */
const noLine = { unit_type: null, quantity: null, price: null, details: null };

function toEntry({ part, occurred_at, adjusts, project_slug, project_name, amount_usd }: StoredPosting) {
  return {
    part,
    occurred_at: toInstant(occurred_at.getTime()),
    adjusts: adjusts && toInstant(adjusts.getTime()),
    project_slug,
    project_name,
    amount_usd: exact(amount_usd),
  };
}

function toLine(posting: StoredPosting) {
  const { model, feature, end_user, session, unit_type, quantity, amount_usd, cost_status, price } = posting;
  return {
    model,
    feature,
    end_user,
    session,
    list_price_usd: exactOrNull(posting.list_price_usd),
    unit_type: unit_type ?? "",
    quantity: exact(quantity ?? "0"),
    amount_usd: exact(amount_usd),
    cost_status,
    price: toOrigin(price),
  };
}

function toOrigin(price: StoredOrigin | null | undefined) {
  return price ? { ...price, rate: exact(price.rate) } : null;
}
