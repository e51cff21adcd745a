import type { ClientBase } from "pg";
import type { z } from "zod";
import { type budget, weekdays } from "@/lib/contract/spend/budgets";
import { dayOf, toInstant } from "@/lib/contract/values/instant";
import {
  compare,
  type Decimal,
  divideMoney,
  multiply,
  parseDecimal,
  shiftDecimal,
  subtract,
} from "@/lib/decimal";
import { toExact } from "@/lib/ledger/pricing/exact";
import { type ComingCharge, loadComingCharges } from "@/lib/ledger/recurring/coming";
import { toForecastDetails } from "@/lib/spend/forecast";
import { selectRefusedOfBudgets } from "@/lib/spend/refused-queries";
import type { LedgerScope } from "@/lib/spend/scope";
import {
  type BudgetRow,
  type ReceiverRow,
  type ScopeRow,
  selectBudgetStatus,
  selectBudgetUsage,
  selectHeldOfBudgets,
  selectReceivers,
  selectScopes,
} from "./budget-queries";
import { chargesBefore, daysOf, forecastBudget, type UsageOfDay } from "./forecast";

/** A budget as its workspace's members see it. */
export type Budget = z.output<typeof budget>;

/** The used share of a budget at which `alert` becomes true. */
const alertThreshold = parseDecimal("0.8");

/** The label of a whole workspace. */
export const everything = "Everything";

/** The state of a workspace's budgets. The policies of the caller's transaction limit what is visible. */
export async function loadBudgets(client: ClientBase, scope: LedgerScope) {
  const rows = await selectBudgetStatus(client, scope);
  return rows.map((row) => ({
    ...toBudget(row),
    warns: { people: row.warned_people.length, channels: row.warned_channels.length },
  }));
}

/**
 * A workspace's budgets with their live spend, scope and forecast, in the caller's transaction.
 * @param id only this one
 */
export async function loadFullBudgets(
  client: ClientBase,
  workspaceId: string,
  id?: string,
): Promise<Budget[]> {
  const scope = { workspaceId, environment: "live" } as const;
  return describeBudgets(client, scope, await selectBudgetStatus(client, scope, id));
}

/** Budgets with their scope and forecast, from their rows. */
export async function describeBudgets(
  client: ClientBase,
  scope: LedgerScope,
  rows: BudgetRow[],
): Promise<Budget[]> {
  const usage = await selectBudgetUsage(
    client,
    scope,
    rows.map((row) => row.id),
    daysOf(rows),
  );
  const before = chargesBefore(rows);
  const charges = before ? await loadComingCharges(client, scope, before, Date.now()) : [];
  const scopes = await selectScopes(
    client,
    scope.workspaceId,
    rows.flatMap(({ scope_value: value }) => value ?? []),
  );
  const refused = await selectRefusedOfBudgets(
    client,
    scope.workspaceId,
    rows.length === 1 ? rows[0]?.id : undefined,
  );
  const held = await selectHeldOfBudgets(client, scope.workspaceId);
  const receivers = rows.some(namesPeople)
    ? await selectReceivers(
        client,
        scope.workspaceId,
        rows.flatMap((row) => [...row.warned_people, ...(row.owner_id === null ? [] : [row.owner_id])]),
        rows.flatMap((row) => row.warned_channels),
      )
    : [];
  return rows.map((row) => ({
    ...toBudget(row),
    warns: toWarned(row, receivers),
    owner: toOwner(row, receivers),
    scope: toScope(row, scopes),
    week_starts_on: weekdays[row.week_start - 1] ?? "monday",
    starts_on: row.starts_on,
    ends_on: row.ends_on,
    usual_amount: toExact(parseDecimal(row.amount)),
    raise: toRaise(row),
    alert_at: {
      percent: row.alert_percents.map((value) => toExact(parseDecimal(value))),
      usd: row.alert_amounts.map((value) => toExact(parseDecimal(value))),
    },
    held_usd: toExact(parseDecimal(held.find(({ id }) => id === row.id)?.usd ?? "0")),
    refused_usd: toExact(parseDecimal(refused.find(({ id }) => id === row.id)?.usd ?? "0")),
    ...toForecast(row, usage, charges),
    created_at: toInstant(row.created_at.getTime()),
  }));
}

const namesReceivers = ({ warned_people: people, warned_channels: channels }: BudgetRow) =>
  people.length + channels.length > 0;

const namesPeople = (row: BudgetRow) => row.owner_id !== null || namesReceivers(row);

/** The named people and channels that a budget can still warn. `falls_back`: none can be reached, so the alert rules decide. */
function toWarned(row: BudgetRow, receivers: ReceiverRow[]): Budget["warns"] {
  const people = receivers.filter(({ type, id }) => type === "person" && row.warned_people.includes(id));
  const channels = receivers.filter(({ type, id }) => type === "channel" && row.warned_channels.includes(id));
  const isReached = people.length > 0 || channels.some((channel) => !channel.is_off);
  return {
    people: people.map(({ id, name }) => ({ id, name })),
    channels: channels.map(({ id, name, is_off }) => ({ id, name, is_off })),
    falls_back: namesReceivers(row) && !isReached,
  };
}

function toOwner(
  { owner_id: id, owner_percent: percent }: BudgetRow,
  receivers: ReceiverRow[],
): Budget["owner"] {
  const found = receivers.find((each) => each.type === "person" && each.id === id);
  return found ? { id: found.id, name: found.name, may_raise_percent: toExact(parseDecimal(percent)) } : null;
}

/** The raise of a budget, unless it is over. */
function toRaise({ raised_amount: amount, raised_until: until, local_ms: localMs }: BudgetRow) {
  if (amount === null || until === null || until < dayOf(Number(localMs))) return null;
  return { amount: toExact(parseDecimal(amount)), until };
}

function toScope({ scope_type: type, scope_value: value }: BudgetRow, scopes: ScopeRow[]) {
  const found = scopes.find((row) => row.type === type && row.id === value);
  return { type, value: found?.slug ?? value, label: found?.name ?? value ?? everything };
}

function toForecast(row: BudgetRow, usage: UsageOfDay[], charges: ComingCharge[]) {
  const forecast = forecastBudget(row, usage, charges);
  return {
    forecast: forecast && toExact(forecast.total),
    forecast_details: toForecastDetails(forecast),
    runs_out_on: forecast?.runsOutOn(parseDecimal(row.limit_usd)) ?? null,
  };
}

/** The thresholds that are reached, the lowest first. */
function exactWhere(thresholds: string[], isReached: (threshold: Decimal) => boolean) {
  return thresholds.map(parseDecimal).filter(isReached).sort(compare).map(toExact);
}

function toBudget(row: BudgetRow) {
  const limit = parseDecimal(row.limit_usd);
  const spent = parseDecimal(row.spent);
  const hundredfold = shiftDecimal(spent, 2);
  return {
    id: row.id,
    name: row.name,
    scope_type: row.scope_type,
    period: row.period,
    period_from: row.period_from,
    period_until: row.period_until,
    time_zone: row.time_zone,
    amount: toExact(limit),
    spent: toExact(spent),
    remaining: toExact(subtract(limit, spent)),
    percent_used: toExact(divideMoney(spent, limit)),
    // Compares products, because a quotient would be rounded: 79.99999996% is not 80%.
    alert: compare(spent, multiply(limit, alertThreshold)) >= 0,
    reached: {
      percent: exactWhere(
        row.alert_percents,
        (percent) => compare(multiply(limit, percent), hundredfold) <= 0,
      ),
      usd: exactWhere(row.alert_amounts, (usd) => compare(usd, spent) <= 0),
    },
    blocks: row.blocks,
    currency: row.currency,
  };
}
