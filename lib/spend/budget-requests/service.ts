import type { PoolClient } from "pg";
import type { z } from "zod";
import { requireMembership } from "@/lib/access/workspaces/membership";
import type {
  AskForBudget,
  BudgetRequest,
  budgetRequestList,
  DecideBudgetRequest,
  KeyBudgetRequest,
  keyBudgetRequestList,
} from "@/lib/contract/spend/budget-requests";
import { toInstant } from "@/lib/contract/values/instant";
import { currencyDecimals } from "@/lib/currencies";
import {
  asKey,
  asService,
  asServiceAlone,
  asServiceWithin,
  asUser,
  asUserReading,
  type UserClaims,
} from "@/lib/db/transaction";
import { compare, multiply, parseDecimal, roundTo, shiftDecimal, toText } from "@/lib/decimal";
import { notFound, ServiceError, validationFailed } from "@/lib/errors";
import type { KeyPrincipal } from "@/lib/keys/identify";
import { checkAmount } from "@/lib/ledger/ingest/check";
import { toExact } from "@/lib/ledger/pricing/exact";
import { selectBudgetStatus } from "@/lib/spend/budgets/budget-queries";
import {
  type AskRefusal,
  type DecisionRefusal,
  decideRequest,
  insertRequest,
  type KeyRequestRow,
  type RequestRow,
  selectBudgetToAsk,
  selectKeyRequests,
  selectRequests,
  selectWorkspaceOf,
  withdrawRequest,
} from "./request-queries";

const decidingRoles = ["owner", "admin"];
const askingRoles = ["owner", "admin", "member"];

/** Lists the requests to raise a workspace's budgets, for its members. @throws ServiceError not_found */
export function listRequests(claims: UserClaims, slug: string): Promise<z.output<typeof budgetRequestList>> {
  return asUserReading(claims, async (client) => {
    const { id, role } = await requireMembership(client, claims, slug);
    const rows = await selectRequests(client, id);
    return {
      requests: rows.map((row) => toRequest(row, claims.sub, role)),
      can_ask: askingRoles.includes(role),
    };
  });
}

/**
 * Requests a raise of a budget as a member, and notifies those who may decide.
 * @throws ServiceError not_found, permission_denied, validation_failed, conflict if a request of theirs is pending
 */
export function askAsMember(claims: UserClaims, slug: string, request: AskForBudget): Promise<BudgetRequest> {
  return asUser(claims, async (client) => {
    const { id: workspaceId, role } = await requireMembership(client, claims, slug, "member");
    const [budget] = await selectBudgetStatus(
      client,
      { workspaceId, environment: "live" },
      request.budget_id,
    );
    if (!budget)
      throw validationFailed([{ path: "budget_id", message: "must be a budget of this workspace" }]);
    const asked = {
      workspace_id: workspaceId,
      key_id: null,
      ...toColumns(request, { currency: budget.currency, usual_amount: budget.amount }),
    };
    const made = await asServiceWithin(client, () => insertRequest(client, asked));
    if ("refused" in made) throw explainAsk(made);
    return loadRequest(client, workspaceId, made.id, claims.sub, role);
  });
}

/**
 * Requests a raise of a budget as a key whose costs the budget can count. Only a key that may read the limit can ask for a
 * share of it.
 * @throws ServiceError not_found, validation_failed, conflict if a request of the key is pending
 */
export async function askAsKey(
  { key, claims }: KeyPrincipal,
  request: AskForBudget,
): Promise<KeyBudgetRequest> {
  const budget = await asServiceAlone((client) => selectBudgetToAsk(client, key.id, request.budget_id));
  if (!budget) throw notFound();
  if (request.percent !== undefined) {
    const scope = { workspaceId: claims.workspace_id, environment: claims.environment };
    const mayRead =
      key.permissions.includes("read_summaries") &&
      (await asKey(claims, (client) => selectBudgetStatus(client, scope, request.budget_id))).length > 0;
    if (!mayRead)
      throw validationFailed([
        {
          path: "percent",
          message: "must be an amount instead, because this key may not read the budget's limit",
        },
      ]);
  }
  return asService(async (client) => {
    const asked = { workspace_id: claims.workspace_id, key_id: key.id, ...toColumns(request, budget) };
    const made = await insertRequest(client, asked);
    if ("refused" in made) throw explainAsk(made);
    const found = (await selectKeyRequests(client, key.id)).find(({ id }) => id === made.id);
    if (!found) throw new Error("The request cannot be read.");
    return toKeyRequest(found);
  });
}

/** Lists the requests that a key made. @throws ServiceError unavailable */
export async function listKeyRequests({ key }: KeyPrincipal): Promise<z.output<typeof keyBudgetRequestList>> {
  const rows = await asServiceAlone((client) => selectKeyRequests(client, key.id));
  return { requests: rows.map(toKeyRequest) };
}

/**
 * Approves a request, in whole or in part, or denies it. Owners and admins of the workspace may, and the budget's owner up to the
 * percentage that the budget sets; nobody may decide their own. The raise ends by itself, and both sides are notified.
 * @param slackUser of a click in Slack: who clicked, as `team user`
 * @throws ServiceError not_found, permission_denied, validation_failed, conflict if it is decided or over
 */
export function decide(
  claims: UserClaims,
  slug: string,
  id: string,
  { decision, amount, until, answer }: DecideBudgetRequest,
  slackUser?: string,
): Promise<BudgetRequest> {
  return asUser(claims, async (client) => {
    const { id: workspaceId, role } = await requireMembership(client, claims, slug);
    const asked = await loadRequest(client, workspaceId, id, claims.sub, role);
    const issues =
      amount === undefined ? [] : checkAmount({ amount, currency: asked.budget.currency ?? "USD" });
    if (issues.length > 0) throw validationFailed(issues);
    const refusal = await asServiceWithin(client, () =>
      decideRequest(client, workspaceId, id, {
        approve: decision === "approve",
        amount: amount === undefined ? null : toText(parseDecimal(amount)),
        until: until ?? null,
        answer: answer ?? null,
        slack_user: slackUser ?? null,
      }),
    );
    if (refusal) throw explainDecision(refusal, asked);
    return loadRequest(client, workspaceId, id, claims.sub, role);
  });
}

/** Withdraws the caller's own pending request. @throws ServiceError not_found, conflict if it is decided */
export function withdraw(claims: UserClaims, slug: string, id: string): Promise<BudgetRequest> {
  return asUser(claims, async (client) => {
    const { id: workspaceId, role } = await requireMembership(client, claims, slug);
    const asked = await loadRequest(client, workspaceId, id, claims.sub, role);
    if (asked.asked_by?.id !== claims.sub) throw notFound();
    if (!(await asServiceWithin(client, () => withdrawRequest(client, workspaceId, id))))
      throw new ServiceError("conflict", `This request is ${asked.state} already.`);
    return loadRequest(client, workspaceId, id, claims.sub, role);
  });
}

/** The slug of the workspace of a budget or a key that the user may see; null for an unknown one. */
export async function findWorkspaceOf(
  claims: UserClaims,
  kind: "budget" | "key",
  id: string,
): Promise<string | null> {
  const found = await asUserReading(claims, (client) => selectWorkspaceOf(client, kind, id));
  return found?.slug ?? null;
}

/** The stored form of a request: a share of the limit becomes an amount, rounded up to the currency's minor unit. @throws ServiceError */
function toColumns(
  { budget_id, amount, percent, reason, until }: AskForBudget,
  { currency, usual_amount: usual }: { currency: string; usual_amount: string },
) {
  const issues = amount === undefined ? [] : checkAmount({ amount, currency });
  if (issues.length > 0) throw validationFailed(issues);
  const share = shiftDecimal(multiply(parseDecimal(usual), parseDecimal(percent ?? "0")), -2);
  const more = amount ? parseDecimal(amount) : roundTo(share, currencyDecimals.get(currency) ?? 2, "up");
  return { budget_id, amount: toText(more), percent: percent ?? null, reason: reason.trim(), until };
}

function explainAsk(refusal: AskRefusal): ServiceError {
  switch (refusal.refused) {
    case "not_found":
      return notFound();
    case "over":
      return validationFailed([{ path: "until", message: "must not be over" }]);
    case "too_many":
      return new ServiceError("conflict", "You have asked 20 times in 24 hours. Ask again tomorrow.");
    case "pending":
      return new ServiceError(
        "conflict",
        `You have asked for more of this budget already: the request ${refusal.id} waits for a decision.`,
      );
  }
}

function explainDecision(refusal: DecisionRefusal, { amount, until, budget }: BudgetRequest): ServiceError {
  switch (refusal.refused) {
    case "not_found":
      return budget.name === null
        ? new ServiceError("conflict", "The budget of this request was deleted.")
        : notFound();
    case "forbidden":
      return new ServiceError(
        "permission_denied",
        "Owners and admins of the workspace decide about requests, and the budget's owner.",
      );
    case "own":
      return new ServiceError(
        "permission_denied",
        "This is your own request, or one of a key that you made. Somebody else decides it.",
      );
    case "decided":
      return new ServiceError("conflict", `This request is ${refusal.state} already.`);
    case "over":
      return new ServiceError("conflict", `It was asked for until ${until}, which is over.`);
    case "more":
      return validationFailed([{ path: "amount", message: `must be at most what was asked for, ${amount}` }]);
    case "until":
      return validationFailed([
        {
          path: "until",
          message:
            refusal.first === refusal.last && refusal.last !== until
              ? `must be ${refusal.last}, the last day of the raise that the budget has already`
              : `must be from ${refusal.first} to ${refusal.last}`,
        },
      ]);
    case "too_much":
      return validationFailed([
        {
          path: "amount",
          message: `must be at most ${refusal.most}, the most that the budget's owner may still grant`,
        },
      ]);
  }
}

async function loadRequest(
  client: PoolClient,
  workspaceId: string,
  id: string,
  userId: string,
  role: string,
): Promise<BudgetRequest> {
  const [row] = await selectRequests(client, workspaceId, id);
  if (!row) throw notFound();
  return toRequest(row, userId, role);
}

const exactOrNull = (digits: string | null) => (digits === null ? null : toExact(parseDecimal(digits)));
const personOf = (id: string | null, name: string | null) =>
  id !== null && name !== null ? { id, name } : null;

function toAsked(row: Omit<RequestRow, "created_at"> | KeyRequestRow, createdAt: number) {
  return {
    id: row.id,
    budget: { id: row.budget_id, name: row.budget_name, currency: row.currency },
    state: row.state,
    amount: toExact(parseDecimal(row.amount)),
    percent: exactOrNull(row.percent),
    reason: row.reason,
    until: row.until,
    created_at: toInstant(createdAt),
  };
}

function toRequest(row: RequestRow, userId: string, role: string): BudgetRequest {
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
    asked_by: personOf(row.requested_by, row.requester_name),
    key: personOf(row.key_id, row.key_name),
    decision:
      (row.state === "approved" || row.state === "denied") && row.decided_at
        ? {
            ...toDecision(row, row.decided_at.getTime()),
            by: personOf(row.decided_by, row.decider_name),
            in_slack: row.in_slack,
          }
        : null,
    can_decide: canDecide,
    can_withdraw: row.state === "pending" && isOwn,
    most: canDecide ? exactOrNull(most) : null,
    ends_with_raise: row.state === "pending" ? row.raised_until : null,
  };
}

function toKeyRequest(row: KeyRequestRow): KeyBudgetRequest {
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
