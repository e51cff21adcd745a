import type { BudgetRequest, KeyBudgetRequest } from "@/lib/contract/spend/budget-requests";
import { toInstant } from "@/lib/contract/values/instant";
import { compare, parseDecimal } from "@/lib/decimal";
import { toExact } from "@/lib/ledger/pricing/exact";
import type { KeyRequestRow, RequestRow } from "./request-queries";

const decidingRoles = ["owner", "admin"];

const exactOrNull = (digits: string | null) => (digits === null ? null : toExact(parseDecimal(digits)));
const named = (id: string | null, name: string | null) =>
  id !== null && name !== null ? { id, name } : null;

function toAsked(row: Omit<RequestRow, "created_at"> | KeyRequestRow, createdAt: number) {
  return {
    id: row.id,
    budget:
      row.budget_id === null ? null : { id: row.budget_id, name: row.limit_name, currency: row.currency },
    limited_key: named(row.limited_key_id, row.limit_name),
    state: row.state,
    amount: toExact(parseDecimal(row.amount)),
    percent: exactOrNull(row.percent),
    reason: row.reason,
    until: row.until,
    created_at: toInstant(createdAt),
  };
}

/** A request as a member sees it. @param role of the member */
export function toRequest(row: RequestRow, userId: string, role: string): BudgetRequest {
  const isOwn = row.requested_by === userId;
  const mayDecide = decidingRoles.includes(role) || row.owner_id === userId;
  const canDecide = row.state === "pending" && !isOwn && mayDecide;
  const isBounded = !decidingRoles.includes(role) && row.owner_most !== null;
  const most =
    isBounded && compare(parseDecimal(row.owner_most ?? "0"), parseDecimal(row.amount)) < 0
      ? row.owner_most
      : row.amount;
  return {
    ...toAsked(row, row.created_at.getTime()),
    asked_by: named(row.requested_by, row.requester_name),
    key: named(row.key_id, row.key_name),
    decision:
      (row.state === "approved" || row.state === "denied") && row.decided_at
        ? {
            ...toDecision(row, row.decided_at.getTime()),
            by: named(row.decided_by, row.decider_name),
            in_slack: row.in_slack,
          }
        : null,
    can_decide: canDecide,
    can_withdraw: row.state === "pending" && isOwn,
    most: canDecide ? exactOrNull(most) : null,
    ends_with_raise: row.state === "pending" ? row.raised_until : null,
  };
}

/** A request as the key that made it sees it. */
export function toKeyRequest(row: KeyRequestRow): KeyBudgetRequest {
  return {
    ...toAsked(row, Date.parse(row.created_at)),
    decision:
      (row.state === "approved" || row.state === "denied") && row.decided_at
        ? toDecision(row, Date.parse(row.decided_at))
        : null,
  };
}

function toDecision(row: RequestRow | KeyRequestRow, at: number) {
  return {
    at: toInstant(at),
    amount: exactOrNull(row.granted_amount),
    until: row.granted_until,
    answer: row.answer,
  };
}
