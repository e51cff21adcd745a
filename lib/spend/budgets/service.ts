import type { ClientBase } from "pg";
import type { z } from "zod";
import { requireMembership } from "@/lib/access/workspaces/membership";
import type { budget, budgetList, CreateBudgetRequest, EditBudgetRequest } from "@/lib/contract/budgets";
import { toInstant } from "@/lib/contract/instant";
import type { DayRange } from "@/lib/contract/month";
import type { budgetStatus } from "@/lib/contract/reads";
import {
  asKey,
  asKeyAtOnce,
  asServiceWithin,
  asUser,
  asUserReading,
  type KeyClaims,
  type UserClaims,
} from "@/lib/db/transaction";
import { notFound, validationFailed } from "@/lib/errors";
import { compare, divideMoney, multiply, parseDecimal, subtract, toText } from "@/lib/ledger/pricing/decimal";
import { toExact } from "@/lib/ledger/pricing/exact";
import { monthPace } from "@/lib/spend/pace";
import type { LedgerScope } from "@/lib/spend/scope";
import {
  type BudgetRow,
  countBudgets,
  deleteBudget,
  insertBudget,
  type ScopeRow,
  selectBudgetStatus,
  selectScopes,
  updateBudget,
} from "./queries";

type Budget = z.output<typeof budget>;

/** The used share of a budget from which on it raises an alert (specification section 8). */
const alertThreshold = parseDecimal("0.8");

/**
 * The state of each budget whose whole spend the key may read, in the current UTC month (specification 2.4), and the
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

/** Whether a key may not read all spend. Only then can a budget be hidden from it. */
const isConfined = ({ allow, deny, users }: KeyClaims) =>
  allow !== null || deny.length > 0 || users !== undefined;

/**
 * The state of a workspace's budgets, as far as the policies of the caller's transaction show them.
 * @param month another month than the current UTC month of the transaction
 */
export async function loadBudgets(client: ClientBase, scope: LedgerScope, month?: DayRange) {
  const rows = await selectBudgetStatus(client, scope, month && { month });
  return rows.map(toBudget);
}

/** Lists a workspace's budgets with their live spend, for its members. @throws ServiceError not_found */
export function listBudgets(claims: UserClaims, slug: string): Promise<z.output<typeof budgetList>> {
  return asUserReading(claims, async (client, now) => {
    const { id, role } = await requireMembership(client, claims, slug);
    return {
      budgets: await loadFullBudgets(client, id, now),
      can_edit: ["owner", "admin"].includes(role),
    };
  });
}

/** Reads one budget, for the workspace's members. @throws ServiceError not_found */
export function readBudget(claims: UserClaims, slug: string, id: string): Promise<Budget> {
  return asUserReading(claims, async (client, now) => {
    const { id: workspaceId } = await requireMembership(client, claims, slug);
    return loadFullBudget(client, workspaceId, now, id);
  });
}

/**
 * Creates a budget, for admins. Several budgets may have the same scope, such as a soft and a hard limit.
 * @throws ServiceError not_found, permission_denied, validation_failed where the project or key is unknown
 */
export function createBudget(
  claims: UserClaims,
  slug: string,
  request: CreateBudgetRequest,
): Promise<Budget> {
  return asUser(claims, async (client, now) => {
    const { id: workspaceId } = await requireMembership(client, claims, slug, "admin");
    const { scope_type: scopeType, scope_value: named } = request;
    const scope = await findScope(client, workspaceId, scopeType, named);
    const id = await insertBudget(client, {
      workspaceId,
      // A feature's name may be longer than the name of a budget.
      name: request.name ?? [...scope.label].slice(0, 120).join(""),
      scopeType,
      scopeValue: scope.stored,
      amount: toText(parseDecimal(request.amount)),
    });
    return loadFullBudget(client, workspaceId, now, id);
  });
}

/** Renames a budget or changes its amount, for admins. @throws ServiceError not_found, permission_denied */
export function editBudget(
  claims: UserClaims,
  slug: string,
  id: string,
  { name, amount }: EditBudgetRequest,
): Promise<Budget> {
  return asUser(claims, async (client, now) => {
    const { id: workspaceId } = await requireMembership(client, claims, slug, "admin");
    await updateBudget(client, workspaceId, id, { name, amount: amount && toText(parseDecimal(amount)) });
    return loadFullBudget(client, workspaceId, now, id);
  });
}

/** Deletes a budget, for admins. @returns the deleted budget. @throws ServiceError not_found, permission_denied */
export function removeBudget(claims: UserClaims, slug: string, id: string): Promise<Budget> {
  return asUser(claims, async (client, now) => {
    const { id: workspaceId } = await requireMembership(client, claims, slug, "admin");
    const last = await loadFullBudget(client, workspaceId, now, id);
    await deleteBudget(client, workspaceId, id);
    return last;
  });
}

/** Finds the stored value and the label of a request's scope. @throws ServiceError validation_failed */
async function findScope(
  client: ClientBase,
  workspaceId: string,
  type: BudgetRow["scope_type"],
  named: string | null,
): Promise<{ stored: string | null; label: string }> {
  if (named === null) return { stored: null, label: everything };
  if (type !== "project" && type !== "key") return { stored: named, label: named };
  const found = (await selectScopes(client, workspaceId, [named])).find(
    (row) => row.type === type && (row.slug ?? row.id) === named,
  );
  if (found) return { stored: found.id, label: found.name };
  throw validationFailed([{ path: "scope_value", message: `must be a ${type} of this workspace` }]);
}

/** The label of a whole workspace. */
const everything = "Everything";

async function loadFullBudget(
  client: ClientBase,
  workspaceId: string,
  now: number,
  id: string,
): Promise<Budget> {
  const [found] = await loadFullBudgets(client, workspaceId, now, id);
  if (!found) throw notFound();
  return found;
}

/**
 * A workspace's budgets with their live spend, scope and forecast, in the caller's transaction.
 * @param now the transaction's time, milliseconds since 1970
 * @param id only this one
 */
export async function loadFullBudgets(
  client: ClientBase,
  workspaceId: string,
  now: number,
  id?: string,
): Promise<Budget[]> {
  const scope = { workspaceId, environment: "live" as const };
  const rows = await selectBudgetStatus(client, scope, { id });
  const scopes = await selectScopes(
    client,
    workspaceId,
    rows.flatMap(({ scope_value: value }) => value ?? []),
  );
  return rows.map((row) => ({
    ...toBudget(row),
    scope: toScope(row, scopes),
    ...toPace(row, now),
    created_at: toInstant(row.created_at.getTime()),
  }));
}

function toScope({ scope_type: type, scope_value: value }: BudgetRow, scopes: ScopeRow[]) {
  const found = scopes.find((row) => row.type === type && row.id === value);
  return { type, value: found?.slug ?? value, label: found?.name ?? value ?? everything };
}

function toPace({ spent, booked, amount }: BudgetRow, now: number) {
  const usage = subtract(parseDecimal(spent), parseDecimal(booked));
  const pace = monthPace({ usage, booked: parseDecimal(booked) }, now);
  return {
    forecast: pace && toExact(pace.total),
    runs_out_on: pace?.runsOutOn(parseDecimal(amount)) ?? null,
  };
}

function toBudget(row: BudgetRow) {
  const amount = parseDecimal(row.amount);
  const spent = parseDecimal(row.spent);
  return {
    id: row.id,
    name: row.name,
    scope_type: row.scope_type,
    amount: toExact(amount),
    spent: toExact(spent),
    remaining: toExact(subtract(amount, spent)),
    percent_used: toExact(divideMoney(spent, amount)),
    // Compares products, because a quotient would be rounded: 79.99999996 % is not 80 %.
    alert: compare(spent, multiply(amount, alertThreshold)) >= 0,
  };
}
