import type { ClientBase } from "pg";
import { requireMembership } from "@/lib/access/workspaces/membership";
import type { AskForBudget, BudgetRequest, KeyBudgetRequest } from "@/lib/contract/spend/budget-requests";
import { currencyDecimals } from "@/lib/currencies";
import {
  asKey,
  asKeyWriting,
  asServiceAlone,
  asServiceWithin,
  asUser,
  type UserClaims,
} from "@/lib/db/transaction";
import { multiply, parseDecimal, roundTo, shiftDecimal, toText } from "@/lib/decimal";
import { notFound, ServiceError, validationFailed } from "@/lib/errors";
import type { KeyPrincipal } from "@/lib/keys/identify";
import { checkAmount } from "@/lib/ledger/ingest/check";
import { selectBudgetStatus } from "@/lib/spend/budgets/budget-queries";
import { loadRequest } from "./list";
import {
  type AskedLimit,
  type AskRefusal,
  insertRequest,
  selectKeyLimit,
  selectKeyRequests,
  selectLimitToAsk,
} from "./request-queries";
import { toKeyRequest } from "./to-request";

/** A limit's currency, and its usual amount as exact text. */
type Usual = { currency: string; usual_amount: string };

/**
 * Requests a raise of a budget or of a key's monthly limit as a member, and notifies those who may decide.
 * @throws ServiceError not_found, permission_denied, validation_failed, conflict if a request of theirs is pending
 */
export function askAsMember(claims: UserClaims, slug: string, request: AskForBudget): Promise<BudgetRequest> {
  return asUser(claims, async (client) => {
    const { id: workspaceId, role } = await requireMembership(client, claims, slug, "member");
    const columns = toColumns(request, await loadUsual(client, workspaceId, request));
    const asked = { workspace_id: workspaceId, key_id: null, ...columns };
    const made = await asServiceWithin(client, () => insertRequest(client, asked));
    if ("refused" in made) throw explainAsk(made);
    return loadRequest(client, workspaceId, made.id, claims.sub, role);
  });
}

/** The limit that a member asks for more of. @throws ServiceError validation_failed */
async function loadUsual(
  client: ClientBase,
  workspaceId: string,
  { budget_id: budgetId, key_id: keyId }: AskForBudget,
): Promise<Usual> {
  if (keyId !== undefined) {
    const found = await selectKeyLimit(client, workspaceId, keyId);
    if (found) return { currency: "USD", ...found };
    throw validationFailed([
      {
        path: "key_id",
        message: "must be a key of this workspace that has a monthly limit and is not revoked",
      },
    ]);
  }
  const [budget] = await selectBudgetStatus(client, { workspaceId, environment: "live" }, budgetId);
  if (budget) return { currency: budget.currency, usual_amount: budget.amount };
  throw validationFailed([{ path: "budget_id", message: "must be a budget of this workspace" }]);
}

/**
 * Requests a raise of the key's own monthly limit, or of a budget whose costs the key can count. Only a key that may read a budget's
 * limit can ask for a share of it.
 * @throws ServiceError not_found, validation_failed, conflict if a request of the key is pending
 */
export async function askAsKey(
  { key, claims }: KeyPrincipal,
  request: AskForBudget,
): Promise<KeyBudgetRequest> {
  const usual = await asServiceAlone((client) => selectLimitToAsk(client, key.id, limitOf(request)));
  if (!usual) throw notFound();
  if (request.percent !== undefined && request.budget_id !== undefined) {
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
  return asKeyWriting(claims, async (client) => {
    const asked = { workspace_id: claims.workspace_id, key_id: key.id, ...toColumns(request, usual) };
    const made = await insertRequest(client, asked);
    if ("refused" in made) throw explainAsk(made);
    const found = (await selectKeyRequests(client, key.id)).find(({ id }) => id === made.id);
    if (!found) throw new Error("The request cannot be read.");
    return toKeyRequest(found);
  });
}

const limitOf = ({ budget_id: budget, key_id: key }: AskForBudget): AskedLimit =>
  key === undefined
    ? { budget_id: budget ?? "", limited_key_id: null }
    : { budget_id: null, limited_key_id: key };

/** The stored form of a request: a share of the limit becomes an amount, rounded up to the currency's minor unit. @throws ServiceError */
function toColumns(request: AskForBudget, { currency, usual_amount: usual }: Usual) {
  const { amount, percent, reason, until } = request;
  const issues = amount === undefined ? [] : checkAmount({ amount, currency });
  if (issues.length > 0) throw validationFailed(issues);
  const share = shiftDecimal(multiply(parseDecimal(usual), parseDecimal(percent ?? "0")), -2);
  const more = amount ? parseDecimal(amount) : roundTo(share, currencyDecimals.get(currency) ?? 2, "up");
  return {
    ...limitOf(request),
    amount: toText(more),
    percent: percent ?? null,
    reason: reason.trim(),
    until,
  };
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
        `You have asked for more of this already: the request ${refusal.id} waits for a decision.`,
      );
  }
}
