import type { PoolClient } from "pg";
import { requireMembership } from "@/lib/access/workspaces/membership";
import { readSealedAccount } from "@/lib/bills/pulls/account-queries";
import {
  type LimitableProvider,
  type LimitKind,
  type LimitPeriod,
  limitingProviders,
  limitPeriods,
  takesLimits,
} from "@/lib/contract/bills/limit-kinds";
import type {
  LinkProviderLimitRequest,
  ProviderLimit,
  ProviderLimitList,
} from "@/lib/contract/bills/provider-limits";
import { type PulledProvider, pulledProviders } from "@/lib/contract/bills/pulled-providers";
import { ExactNumber } from "@/lib/contract/values/exact-number";
import { toInstant } from "@/lib/contract/values/instant";
import { newId } from "@/lib/db/new-id";
import { asServiceWithin, asUser, asUserReading, type UserClaims } from "@/lib/db/transaction";
import { isZero, toText } from "@/lib/decimal";
import { env } from "@/lib/env";
import { notFound, ServiceError, validationFailed } from "@/lib/errors";
import { type Budget, loadFullBudgets } from "@/lib/spend/budgets/load-budgets";
import { editBudget } from "@/lib/spend/budgets/service";
import { addLimit, askForLimit, type LimitRow, selectLimits, unlinkLimit } from "./limit-queries";
import { loadBudget, periodProblem } from "./list-targets";
import { asTaken } from "./settle-limit";

/** The most limits at providers of a workspace. */
const maxLimits = 200;

/** Lists the limits at providers that follow budgets, for members. @throws ServiceError not_found */
export function listLimits(claims: UserClaims, slug: string): Promise<ProviderLimitList> {
  return asUserReading(claims, async (client) => {
    const { id, role } = await requireMembership(client, claims, slug);
    return {
      limits: (await selectLimits(client, id)).map(toLimit),
      can_edit: ["owner", "admin"].includes(role),
    };
  });
}

/**
 * Links a budget to a limit at a provider, for admins. It is written in the background.
 * @throws ServiceError not_found, permission_denied; validation_failed by field where the provider has no such kind or period, or the
 *   limit would be zero there; conflict where a budget limits it already, or there are too many
 */
export function linkLimit(
  claims: UserClaims,
  slug: string,
  request: LinkProviderLimitRequest,
): Promise<ProviderLimit> {
  return asUser(claims, async (client) => {
    const { id: workspaceId } = await requireMembership(client, claims, slug, "admin");
    const budget = await loadBudget(client, workspaceId, request.budget_id, "budget_id");
    const account = await asServiceWithin(client, () =>
      readSealedAccount(client, workspaceId, request.account_id),
    );
    if (!account)
      throw validationFailed([
        {
          path: "account_id",
          message: "must be a provider account of this workspace, which Settings → Bills lists",
        },
      ]);
    const { provider, account: accountName } = account;
    const period = requireFit(budget, provider, request.kind);
    const isOrganization = request.kind === "organization";
    const id = newId();
    const given = {
      ...{ id, budget_id: budget.id, account_id: request.account_id, kind: request.kind, period },
      target: isOrganization ? accountName || "organization" : request.target_id,
      target_name: request.target_name ?? null,
      removes: request.removes_limit,
    };
    const outcome = await asServiceWithin(client, () => addLimit(client, workspaceId, given, maxLimits));
    if (outcome === "taken")
      throw new ServiceError(
        "conflict",
        "A budget of this period limits it already, and two would overwrite each other. Unlink that one first.",
      );
    if (outcome === "too_many")
      throw new ServiceError(
        "conflict",
        `A workspace may have ${maxLimits} limits at providers. Unlink one that is not needed any more.`,
        { limit: maxLimits },
      );
    return loadLimit(client, workspaceId, id);
  });
}

/**
 * Reads what a provider holds, writes the budget's limit again, or gives the budget the limit that the provider holds, for admins. Reading
 * and writing happen in the background.
 * @throws ServiceError not_found, permission_denied; conflict where it is being removed, or the budget cannot take what is held
 */
export async function resolveLimit(
  claims: UserClaims,
  slug: string,
  id: string,
  action: "check" | "write" | "accept",
): Promise<ProviderLimit> {
  if (action === "accept") await acceptHeld(claims, slug, id);
  return asUser(claims, async (client) => {
    const { id: workspaceId } = await requireMembership(client, claims, slug, "admin");
    await loadLimit(client, workspaceId, id);
    const isAsked = await asServiceWithin(client, () =>
      askForLimit(client, workspaceId, id, action === "write"),
    );
    if (!isAsked) throw new ServiceError("conflict", "It is being removed at the provider.");
    return loadLimit(client, workspaceId, id);
  });
}

/** Gives a budget the limit that the provider holds. @throws ServiceError conflict where it cannot take it */
async function acceptHeld(claims: UserClaims, slug: string, id: string): Promise<void> {
  const held = await asUserReading(claims, async (client) => {
    const { id: workspaceId } = await requireMembership(client, claims, slug, "admin");
    const { budget, held: found, period, state } = await loadLimit(client, workspaceId, id);
    const [row] = budget ? await loadFullBudgets(client, workspaceId, budget.id) : [];
    if (!row || state !== "drift" || found?.limit_usd == null)
      throw new ServiceError(
        "conflict",
        "There is no other limit to accept. Read it again, or write the budget's.",
      );
    if (found.period !== period || !found.stops)
      throw new ServiceError(
        "conflict",
        `The provider's limit resets otherwise, or only alerts. A budget cannot take it: write the budget's limit again.`,
      );
    if (row.currency !== "USD" || row.raise !== null)
      throw new ServiceError(
        "conflict",
        row.currency === "USD"
          ? "The budget has a raise. End it first, or write the budget's limit again."
          : `The budget is in ${row.currency}, and the provider's limit in USD. Change the budget's limit instead.`,
      );
    return { budgetId: row.id, amount: textOf(found.limit_usd) };
  });
  await editBudget(claims, slug, held.budgetId, { amount: held.amount });
}

const textOf = (amount: number | ExactNumber) =>
  amount instanceof ExactNumber ? amount.text : String(amount);

/**
 * Unlinks a limit from its budget, for admins. @param atProvider it is also removed there, in the background
 * @throws ServiceError not_found, permission_denied
 */
export function removeLimit(
  claims: UserClaims,
  slug: string,
  id: string,
  atProvider: boolean,
): Promise<ProviderLimit> {
  return asUser(claims, async (client) => {
    const { id: workspaceId } = await requireMembership(client, claims, slug, "admin");
    const last = await loadLimit(client, workspaceId, id);
    await asServiceWithin(client, () => unlinkLimit(client, workspaceId, id, atProvider));
    return atProvider ? loadLimit(client, workspaceId, id) : last;
  });
}

/** The period of a limit. @throws ServiceError validation_failed where a provider cannot limit as the budget does */
function requireFit(budget: Budget, provider: PulledProvider, kind: LimitKind): LimitPeriod {
  const refuse = (path: string, message: string) => validationFailed([{ path, message }]);
  const { label } = pulledProviders[provider];
  if (!takesLimits(provider))
    throw refuse("account_id", "must be an account of a provider that takes limits");
  const { kinds, unit } = limitingProviders[provider];
  const limited = kinds[kind];
  if (!limited)
    throw refuse("kind", `must be one of those that ${label} limits: ${Object.keys(kinds).join(", ")}`);
  const period = limitPeriods.find((each) => each === budget.period);
  if (!period) throw refuse("budget_id", periodProblem(budget));
  if (!limited.periods.includes(period))
    throw refuse(
      "budget_id",
      `must be a budget per ${limited.periods.join(" or ")}: ${label} limits a ${limited.label} by no other period`,
    );
  if (period === "week" && budget.week_starts_on !== "monday")
    throw refuse("budget_id", `must have weeks that begin on Monday, as those of ${label} do`);
  if (budget.scope.type === "provider" && budget.scope.value?.toLowerCase() !== provider)
    throw refuse(
      "account_id",
      `must be an account of ${budget.scope.value}: the budget is of that provider alone`,
    );
  if (isZero(asTaken(provider, textOf(budget.amount))))
    throw refuse(
      "budget_id",
      `must have a limit of at least one ${unit}, the least that can be set at ${label}: less would be none`,
    );
  return period;
}

/** @throws ServiceError not_found */
async function loadLimit(client: PoolClient, workspaceId: string, id: string): Promise<ProviderLimit> {
  const [row] = await selectLimits(client, workspaceId, id);
  if (!row) throw notFound();
  return toLimit(row);
}

function toLimit(row: LimitRow): ProviderLimit {
  const provider = row.provider as LimitableProvider;
  const instantOf = (at: Date | null) => (at === null ? null : toInstant(at.getTime()));
  const exact = (digits: string | null) => (digits === null ? null : new ExactNumber(digits));
  const { budget_id: budgetId, budget_name: budgetName, limit_usd: limit } = row;
  return {
    id: row.id,
    budget: budgetId !== null && budgetName !== null ? { id: budgetId, name: budgetName } : null,
    account: { id: row.account_id, provider, name: row.account || null },
    kind: row.kind,
    name: row.target_name,
    period: row.period,
    state: row.is_removing ? "removing" : row.state,
    problem: row.problem,
    limit_usd: limit === null ? null : new ExactNumber(toText(asTaken(provider, limit))),
    written_usd: exact(row.written_usd),
    written_at: instantOf(row.written_at),
    held:
      row.read_at === null
        ? null
        : { limit_usd: exact(row.held_usd), period: row.held_period, stops: row.held_stops ?? false },
    read_at: instantOf(row.read_at),
    is_due: row.is_due && !env().PROVIDER_URLS.isOff,
    removes_limit: row.removes,
    created_at: toInstant(row.created_at.getTime()),
    created_by: row.created_by_email,
  };
}
