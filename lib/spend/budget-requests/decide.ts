import { requireMembership } from "@/lib/access/workspaces/membership";
import type { BudgetRequest, DecideBudgetRequest } from "@/lib/contract/spend/budget-requests";
import { asServiceWithin, asUser, type UserClaims } from "@/lib/db/transaction";
import { parseDecimal, toText } from "@/lib/decimal";
import { notFound, ServiceError, validationFailed } from "@/lib/errors";
import { checkAmount } from "@/lib/ledger/ingest/check";
import { loadRequest } from "./list";
import { type DecisionRefusal, decideRequest, withdrawRequest } from "./request-queries";

/**
 * Approves a request, in whole or in part, or denies it. Owners and admins of the workspace may; the budget's owner up to the
 * percentage that the budget sets; who made a key, up to half above its usual limit. Nobody may decide their own. The raise ends by itself, and both sides are notified.
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
      amount === undefined ? [] : checkAmount({ amount, currency: asked.budget?.currency ?? "USD" });
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

function explainDecision(refusal: DecisionRefusal, { amount, until, ...asked }: BudgetRequest): ServiceError {
  switch (refusal.refused) {
    case "not_found":
      return new ServiceError(
        "conflict",
        asked.budget
          ? "The budget of this request was deleted."
          : "The key of this request is revoked, or has no monthly limit any more.",
      );
    case "forbidden":
      return new ServiceError(
        "permission_denied",
        asked.budget
          ? "Owners and admins of the workspace decide about requests, and the budget's owner."
          : "Owners and admins of the workspace decide about requests, and who made the key.",
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
              ? `must be ${refusal.last}, the last day of the raise that there is already`
              : `must be from ${refusal.first} to ${refusal.last}`,
        },
      ]);
    case "too_much":
      return validationFailed([
        {
          path: "amount",
          message: `must be at most ${refusal.most}, the most that the ${asked.budget ? "budget's owner" : "member who made the key"} may still grant`,
        },
      ]);
  }
}
