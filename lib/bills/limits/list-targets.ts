import type { PoolClient } from "pg";
import { requireMembership } from "@/lib/access/workspaces/membership";
import { readSealedAccount, type SealedAccount } from "@/lib/bills/pulls/account-queries";
import { askNow } from "@/lib/bills/pulls/ask-now";
import { ProviderFailure, ProviderRefusal } from "@/lib/bills/pulls/provider";
import {
  type LimitableProvider,
  type LimitPeriod,
  limitingProviders,
  limitPeriods,
  takesLimits,
} from "@/lib/contract/bills/limit-kinds";
import type { LimitTargetList } from "@/lib/contract/bills/provider-limits";
import { type PulledProvider, pulledProviders } from "@/lib/contract/bills/pulled-providers";
import { asServiceWithin, asUser, type UserClaims } from "@/lib/db/transaction";
import { notFound, validationFailed } from "@/lib/errors";
import { toExact } from "@/lib/ledger/pricing/exact";
import { SealError } from "@/lib/seal";
import { type Budget, loadFullBudgets } from "@/lib/spend/budgets/load-budgets";
import { listLimitedTargets } from "./limit-queries";
import { type HeldLimit, type LimitTarget, TargetGone } from "./limiter";
import { limiters } from "./limiters";

/**
 * Asks a provider what can be limited for a budget, for admins.
 * @throws ServiceError not_found, permission_denied; validation_failed if there is no such budget
 */
export async function listTargets(
  claims: UserClaims,
  slug: string,
  accountId: string,
  budgetId: string,
): Promise<LimitTargetList> {
  const known = await asUser(claims, async (client) => {
    const { id: workspaceId } = await requireMembership(client, claims, slug, "admin");
    const budget = await loadBudget(client, workspaceId, budgetId, "budget_id");
    const row = await asServiceWithin(client, () => readSealedAccount(client, workspaceId, accountId));
    if (!row) throw notFound();
    return {
      ...{ workspaceId, budget, row },
      names: [budget.scope.label, budget.scope.value, budget.name].flatMap((name) => name ?? []),
      linked: await asServiceWithin(client, () => listLimitedTargets(client, workspaceId, accountId)),
    };
  });
  const { provider } = known.row;
  if (!takesLimits(provider)) return { targets: [], problem: noLimitsProblem(provider) };
  const row = { ...known.row, provider };
  const period = limitPeriods.find((each) => each === known.budget.period);
  if (!period) return { targets: [], problem: periodProblem(known.budget) };
  try {
    const all = await askNow(row, (ask) => limiters[row.provider].list(ask, row.account, period));
    return { targets: toTargets(all, { ...known, row, period }), problem: null };
  } catch (error) {
    const isKnown =
      error instanceof ProviderRefusal ||
      error instanceof ProviderFailure ||
      error instanceof SealError ||
      error instanceof TargetGone;
    if (!isKnown) throw error;
    return { targets: [], problem: error.message };
  }
}

type Account = SealedAccount & { provider: LimitableProvider };

function toTargets(
  all: LimitTarget[],
  {
    row: { provider },
    period,
    names,
    linked,
  }: {
    row: Account;
    period: LimitPeriod;
    names: string[];
    linked: { kind: string; target: string; period: string }[];
  },
): LimitTargetList["targets"] {
  const wanted = new Set(names.map((name) => name.toLowerCase()));
  const isWanted = ({ id, name }: LimitTarget) =>
    [id, name, name.split("@")[0] ?? ""].some((each) => wanted.has(each.toLowerCase()));
  return all
    .filter(({ kind }) => limitingProviders[provider].kinds[kind]?.periods.includes(period))
    .map((target) => ({
      ...{ kind: target.kind, id: target.id, name: target.name, held: target.held && toHeld(target.held) },
      is_proposed: isWanted(target),
      is_linked: linked.some(
        (each) => each.kind === target.kind && each.target === target.id && each.period === period,
      ),
    }))
    .sort((a, b) => Number(b.is_proposed) - Number(a.is_proposed) || a.name.localeCompare(b.name, "en"));
}

const toHeld = ({ usd, period, stops }: HeldLimit) => ({ limit_usd: usd && toExact(usd), period, stops });

/** @throws ServiceError validation_failed */
export async function loadBudget(
  client: PoolClient,
  workspaceId: string,
  id: string,
  path: string,
): Promise<Budget> {
  const [budget] = await loadFullBudgets(client, workspaceId, id);
  if (budget) return budget;
  throw validationFailed([{ path, message: "must be a budget of this workspace" }]);
}

/** What to say of an account whose provider takes no limits. */
const noLimitsProblem = (provider: PulledProvider) =>
  `${pulledProviders[provider].label} can only be read: link an account of a provider that takes limits.`;

/** What to tell of a budget whose period no provider has. */
export const periodProblem = ({ period }: Budget) =>
  `Providers limit days, weeks and months, not ${period === "once" ? "a period with two ends" : `a ${period}`}. Set a budget per month for the limit there.`;
