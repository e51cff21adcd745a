import type { ClientBase } from "pg";
import type { z } from "zod";
import { restoreDeleted, storeDeleted } from "@/lib/access/restore-deleted";
import { requireMembership } from "@/lib/access/workspaces/membership";
import type { Membership } from "@/lib/contract/access/me";
import {
  type budgetList,
  type CreateBudgetRequest,
  type EditBudgetRequest,
  weekdays,
} from "@/lib/contract/spend/budgets";
import type { budgetStatus } from "@/lib/contract/spend/reads";
import { freeName } from "@/lib/contract/values/free-name";
import { dayOf } from "@/lib/contract/values/instant";
import {
  asKey,
  asKeyAtOnce,
  asServiceWithin,
  asUser,
  asUserReading,
  type KeyClaims,
  sqlState,
  type UserClaims,
} from "@/lib/db/transaction";
import { compare, parseDecimal, toText } from "@/lib/decimal";
import { notFound, type ServiceError, validationFailed } from "@/lib/errors";
import { checkAmount } from "@/lib/ledger/ingest/check";
import {
  type BudgetRow,
  countBudgets,
  deleteBudget,
  insertBudget,
  isNamedByCosts,
  type NewBudget,
  selectBudgetNames,
  selectBudgetStatus,
  selectReceivers,
  selectScopes,
  updateBudget,
} from "./budget-queries";
import { type Budget, everything, loadBudgets, loadFullBudgets } from "./load-budgets";
import { rateOn } from "./rate";

/**
 * The state of each budget whose whole spend the key may read, in its present period, and the
 * number of budgets that are hidden from the key.
 * @throws ServiceError unavailable
 */
export async function readBudgetStatus(claims: KeyClaims): Promise<z.output<typeof budgetStatus>> {
  const scope = { workspaceId: claims.workspace_id, environment: claims.environment };
  if (!isConfined(claims)) {
    return { budgets: await asKeyAtOnce(claims, (client) => loadBudgets(client, scope)), hidden_count: 0 };
  }
  return asKey(claims, async (client) => {
    const budgets = await loadBudgets(client, scope);
    const all = await asServiceWithin(client, () => countBudgets(client, scope.workspaceId), "outlay_key");
    return { budgets, hidden_count: all - budgets.length };
  });
}

/** Whether a key may read only a part of all spend, so that budgets can be hidden from it. */
const isConfined = ({ allow, deny, users }: KeyClaims) =>
  allow !== null || deny.length > 0 || users !== undefined;

/** Lists a workspace's budgets with their live spend, for its members. @throws ServiceError not_found */
export function listBudgets(claims: UserClaims, slug: string): Promise<z.output<typeof budgetList>> {
  return asUserReading(claims, async (client) => {
    const { id, role } = await requireMembership(client, claims, slug);
    return {
      budgets: await loadFullBudgets(client, id),
      can_edit: ["owner", "admin"].includes(role),
    };
  });
}

/** Reads one budget, for the workspace's members. @throws ServiceError not_found */
export function readBudget(claims: UserClaims, slug: string, id: string): Promise<Budget> {
  return asUserReading(claims, async (client) => {
    const { id: workspaceId } = await requireMembership(client, claims, slug);
    return loadFullBudget(client, workspaceId, id);
  });
}

/**
 * Creates a budget, for admins. It counts what its present period has spent already. Several budgets may have the same
 * scope, such as a soft and a hard limit.
 * @throws ServiceError not_found, permission_denied, validation_failed if the project or key is unknown, no cost names the
 *   scope, or the budget is over
 */
export function createBudget(
  claims: UserClaims,
  slug: string,
  request: CreateBudgetRequest,
): Promise<Budget> {
  return asUser(claims, async (client, now) => {
    const workspace = await requireMembership(client, claims, slug, "admin");
    const { is_known: isKnown, ...budget } = await toNewBudget(client, workspace, request, now);
    if (!isKnown && !request.allow_unknown_scope) throw unknownScope(request);
    const id = await insertBudget(client, budget).catch(explainRefused);
    return loadFullBudget(client, workspace.id, id);
  });
}

/**
 * The columns of a requested budget, and whether any cost names its scope. The default time zone is the workspace's.
 * @throws ServiceError validation_failed
 */
export async function toNewBudget(
  client: ClientBase,
  { id: workspaceId, time_zone: timeZone }: Pick<Membership, "id" | "time_zone">,
  request: CreateBudgetRequest,
  now: number,
): Promise<NewBudget & { is_known: boolean }> {
  const { scope_type: scopeType, scope_value: named } = request;
  const scope = await findScope(client, workspaceId, scopeType, named);
  requireRaise(request.raise, request.amount);
  requireAmounts(request);
  return {
    workspace_id: workspaceId,
    name: request.name ?? freeName(scope.label, await selectBudgetNames(client, workspaceId)),
    scope_type: scopeType,
    scope_value: scope.stored,
    period: request.period,
    week_start: weekdays.indexOf(request.week_starts_on) + 1,
    time_zone: request.time_zone ?? timeZone,
    starts_on: request.starts_on ?? null,
    ends_on: request.ends_on ?? null,
    amount: exactText(request.amount),
    currency: request.currency,
    usd_rate: rateOn(request.currency, dayOf(now)),
    blocks: request.blocks,
    ...toRaiseColumns(request.raise),
    ...toAlertColumns(request.alert_at),
    ...(await toWarnedColumns(client, workspaceId, request.warns)),
    ...(await toOwnerColumns(client, workspaceId, request.owner)),
    is_known: scope.isKnown,
  };
}

/** The error for a budget whose scope no cost has yet, which says how to create the budget anyway. */
function unknownScope({ scope_type: type, scope_value: value }: CreateBudgetRequest): ServiceError {
  return validationFailed([
    {
      path: "scope_value",
      message: `no cost names the ${type} ${value} yet; correct it, or send allow_unknown_scope: true to set the budget anyway`,
    },
  ]);
}

/**
 * Renames a budget, or changes its limit, its raise, its thresholds, its owner, whom it warns or whether it blocks, for admins.
 * @throws ServiceError not_found, permission_denied, validation_failed
 */
export function editBudget(
  claims: UserClaims,
  slug: string,
  id: string,
  { name, amount, raise, alert_at: alertAt, blocks, warns, owner }: EditBudgetRequest,
): Promise<Budget> {
  return asUser(claims, async (client) => {
    const { id: workspaceId } = await requireMembership(client, claims, slug, "admin");
    const [present] = await selectBudgetStatus(client, { workspaceId, environment: "live" }, id);
    if (!present) throw notFound();
    const { raised_amount: raised, raised_until: until } = present;
    const stored = raised !== null && until !== null ? { amount: raised, until } : null;
    requireRaise(raise === undefined ? stored : raise, amount ?? present.amount);
    requireAmounts({ amount: amount ?? present.amount, raise: raise ?? null, currency: present.currency });
    await updateBudget(client, workspaceId, id, {
      name,
      blocks,
      amount: amount && exactText(amount),
      ...(raise !== undefined && toRaiseColumns(raise)),
      ...(alertAt && toAlertColumns(alertAt)),
      ...(warns && (await toWarnedColumns(client, workspaceId, warns))),
      ...(owner !== undefined && (await toOwnerColumns(client, workspaceId, owner))),
    });
    return loadFullBudget(client, workspaceId, id);
  });
}

const exactText = (digits: string) => toText(parseDecimal(digits));

type Raise = CreateBudgetRequest["raise"];

/** @throws ServiceError validation_failed if a raise is not above the limit */
function requireRaise(raise: Raise, amount: string): void {
  if (raise === null || compare(parseDecimal(raise.amount), parseDecimal(amount)) > 0) return;
  throw validationFailed([{ path: "raise.amount", message: `must be more than the usual limit, ${amount}` }]);
}

/** @throws ServiceError validation_failed if the currency is unknown or has fewer decimals than an amount */
function requireAmounts({
  amount,
  raise,
  currency,
}: {
  amount: string;
  raise: Raise;
  currency: string;
}): void {
  const issues = checkAmount({ amount, currency });
  if (issues.length > 0) throw validationFailed(issues);
  const ofRaise = raise ? checkAmount({ amount: raise.amount, currency }) : [];
  if (ofRaise.length > 0)
    throw validationFailed(ofRaise.map((issue) => ({ ...issue, path: `raise.${issue.path}` })));
}

function toRaiseColumns(raise: Raise) {
  return { raised_amount: raise && exactText(raise.amount), raised_until: raise?.until ?? null };
}

/** Each threshold once, the lowest first. */
function toAlertColumns({ percent, usd }: CreateBudgetRequest["alert_at"]) {
  const distinct = (values: string[]) =>
    [...new Set(values.map(exactText))].sort((a, b) => compare(parseDecimal(a), parseDecimal(b)));
  return { alert_percents: distinct(percent), alert_amounts: distinct(usd) };
}

/** Whom a budget warns. @throws ServiceError validation_failed if one is no member or channel of the workspace */
async function toWarnedColumns(
  client: ClientBase,
  workspaceId: string,
  { people, channels }: CreateBudgetRequest["warns"],
) {
  const found = await selectReceivers(client, workspaceId, people, channels);
  const issuesOf = (field: "people" | "channels", ids: string[], type: "person" | "channel", what: string) =>
    ids.flatMap((id, index) =>
      found.some((each) => each.type === type && each.id === id)
        ? []
        : [{ path: `warns.${field}.${index}`, message: `must be ${what} of this workspace` }],
    );
  const issues = [
    ...issuesOf("people", people, "person", "a member"),
    ...issuesOf("channels", channels, "channel", "an alert channel"),
  ];
  if (issues.length > 0) throw validationFailed(issues);
  return { warned_people: [...new Set(people)], warned_channels: [...new Set(channels)] };
}

/** Who owns a budget. @throws ServiceError validation_failed if the owner is no member of the workspace */
async function toOwnerColumns(client: ClientBase, workspaceId: string, owner: CreateBudgetRequest["owner"]) {
  if (owner === null) return { owner_id: null };
  const found = await selectReceivers(client, workspaceId, [owner.id], []);
  if (found.length === 0)
    throw validationFailed([{ path: "owner.id", message: "must be a member of this workspace" }]);
  return { owner_id: owner.id, owner_percent: exactText(owner.may_raise_percent) };
}

/** Names the field that the database refused. @throws ServiceError validation_failed, or the error itself */
export function explainRefused(error: unknown): never {
  if (sqlState(error) !== "22023") throw error;
  const isZone = error instanceof Error && error.message.includes("time zone");
  throw validationFailed([
    isZone
      ? { path: "time_zone", message: "must be the name of a time zone, like Europe/Berlin or UTC" }
      : { path: "ends_on", message: "must not be over" },
  ]);
}

/** Deletes a budget, for admins. @returns the deleted budget. @throws ServiceError not_found, permission_denied */
export function removeBudget(claims: UserClaims, slug: string, id: string): Promise<Budget> {
  return asUser(claims, async (client) => {
    const { id: workspaceId } = await requireMembership(client, claims, slug, "admin");
    const last = await loadFullBudget(client, workspaceId, id);
    await storeDeleted(client, "budget", workspaceId, id);
    await deleteBudget(client, workspaceId, id);
    return last;
  });
}

/**
 * Restores a budget that was deleted in the last ten minutes, for admins. It has its id and its former periods, and counts what
 * was spent since.
 * @throws ServiceError not_found, permission_denied
 */
export function restoreBudget(claims: UserClaims, slug: string, id: string): Promise<Budget> {
  return restoreDeleted(claims, slug, id, { kind: "budget", role: "admin" }, (client, workspaceId) =>
    loadFullBudget(client, workspaceId, id),
  );
}

/** Finds the stored value and the label of a request's scope, and whether any cost names it. @throws ServiceError validation_failed */
async function findScope(
  client: ClientBase,
  workspaceId: string,
  type: BudgetRow["scope_type"],
  named: string | null,
): Promise<{ stored: string | null; label: string; isKnown: boolean }> {
  if (named === null) return { stored: null, label: everything, isKnown: true };
  if (type !== "global" && type !== "project" && type !== "key")
    return { stored: named, label: named, isKnown: await isNamedByCosts(client, workspaceId, type, named) };
  const found = (await selectScopes(client, workspaceId, [named])).find(
    (row) => row.type === type && (row.slug ?? row.id) === named,
  );
  if (found) return { stored: found.id, label: found.name, isKnown: true };
  throw validationFailed([{ path: "scope_value", message: `must be a ${type} of this workspace` }]);
}

async function loadFullBudget(client: ClientBase, workspaceId: string, id: string): Promise<Budget> {
  const [found] = await loadFullBudgets(client, workspaceId, id);
  if (!found) throw notFound();
  return found;
}
