import type { ClientBase } from "pg";
import type { z } from "zod";
import { keyPermissions } from "@/lib/contract/access/permissions";
import type { keyLimits, LimitsQuery } from "@/lib/contract/spend/limits";
import { dayOf, toInstant } from "@/lib/contract/values/instant";
import { monthOf } from "@/lib/contract/values/month";
import { asKey, asServiceWithin } from "@/lib/db/transaction";
import { add, compare, type Decimal, parseDecimal, subtract, zero } from "@/lib/decimal";
import type { ApiKey } from "@/lib/keys/api-key";
import {
  type BlockingBudgetRow,
  isUsedUp,
  lowerAsPostgres,
  parseBudgets,
  resetOf,
} from "@/lib/keys/blocking-budgets";
import { allowsFeature, allowsUser } from "@/lib/keys/conditions";
import { heldByBudget } from "@/lib/keys/holds";
import type { KeyPrincipal } from "@/lib/keys/identify";
import { toExact } from "@/lib/ledger/pricing/exact";
import { type BudgetRow, type ScopeType, selectBudgetStatus } from "@/lib/spend/budgets/budget-queries";
import { selectRefusedOfBudgets } from "@/lib/spend/refused-queries";
import { type KeyUse, selectKeyLimits, selectProjectId } from "./limit-queries";

type KeyLimits = z.output<typeof keyLimits>;
type CoveringBudget = KeyLimits["budgets"][number];

/**
 * Reads what limits a key: its own limits, and the budgets that cover what it records. A key sees the figures of budgets that it
 * may read (`read_summaries` and row-level security). Of other budgets, it sees only the names of blocking ones that its own
 * settings name, because their refusals contain the names, too.
 * @param of the usage that the budgets should count; fields that are left out do not restrict the budgets
 * @throws ServiceError unavailable
 */
export function readKeyLimits({ key, claims }: KeyPrincipal, of: LimitsQuery = {}): Promise<KeyLimits> {
  return asKey(claims, async (client, now) => {
    const counts = await countingOf(client, claims.workspace_id, of);
    const scope = { workspaceId: claims.workspace_id, environment: claims.environment };
    // Budgets count only live spend, so they do not limit test keys.
    const readable =
      key.environment === "live" && key.permissions.includes("read_summaries")
        ? (await selectBudgetStatus(client, scope)).filter(
            (budget) =>
              countsNow(budget) && canCover(key, budget) && counts(budget.scope_type, budget.scope_value),
          )
        : [];
    const { budgets, held, ...used } = await asServiceWithin(
      client,
      () => selectKeyLimits(client, key.id),
      "outlay_key",
    );
    const refused = readable.length > 0 ? await selectRefusedOfBudgets(client, claims.workspace_id) : [];
    const refusedOf = (id: string) => refused.find((row) => row.id === id)?.usd;
    const heldOf = heldByBudget(held);
    const shown = new Set(readable.map(({ id }) => id));
    const named = budgets.filter(
      ({ id, scope_type: type, scope_key: value }) => !shown.has(id) && counts(type, value),
    );
    return {
      key: toKey(key, used, now),
      budgets: [
        ...readable.map((row) => toReadable(row, refusedOf(row.id), heldOf.get(row.id) ?? zero)),
        ...toNamed(named, heldOf),
      ].sort(byName),
    };
  });
}

const byName = (a: CoveringBudget, b: CoveringBudget) =>
  a.name === b.name ? (a.id < b.id ? -1 : 1) : a.name < b.name ? -1 : 1;

/** Makes a check of whether a budget can count the given usage. A project that the key may not read has no budget. */
async function countingOf(
  client: ClientBase,
  workspaceId: string,
  { project, ...rest }: LimitsQuery,
): Promise<(type: ScopeType, value: string | null) => boolean> {
  const id = project === undefined ? undefined : await selectProjectId(client, workspaceId, project);
  const asked: { [Type in ScopeType]?: string | undefined } = {
    ...(project !== undefined && { project: id ?? "" }),
    ...rest,
    ...(rest.provider !== undefined && { provider: lowerAsPostgres(rest.provider) }),
  };
  return (type, value) => {
    const wanted = asked[type];
    return (
      wanted === undefined ||
      value === null ||
      wanted === (type === "provider" ? lowerAsPostgres(value) : value)
    );
  };
}

/** Whether a budget counts what occurs now. */
export function countsNow({ starts_on: from, ends_on: last, local_ms: localMs }: BudgetRow): boolean {
  const today = dayOf(Number(localMs));
  return (from === null || from <= today) && (last === null || last >= today);
}

/** Whether a budget that a key may read can count what it records. A confined key reads no budget of other projects. */
function canCover(key: ApiKey, { scope_type: type, scope_value: value }: BudgetRow): boolean {
  if (value === null) return true;
  if (type === "key") return value === key.id;
  if (type === "feature") return allowsFeature(key, value);
  return type !== "user" || allowsUser(key, value);
}

/** @param used USD as exact text */
function toKey(key: ApiKey, used: KeyUse, now: number): KeyLimits["key"] {
  const [spent, held] = [parseDecimal(used.spent_usd), parseDecimal(used.held_usd)];
  const { project_slugs: projects, features, sources, users } = key.conditions;
  const { monthlyLimit: limit } = key;
  return {
    id: key.id,
    environment: key.environment,
    permissions: keyPermissions.filter((each) => key.permissions.includes(each)),
    projects: key.project ? [key.project.slug] : listOrNull(projects),
    features: listOrNull(features),
    sources: listOrNull(sources),
    is_limited_to_users: Boolean(users?.length),
    expires_at: key.expiresAt === null ? null : toInstant(key.expiresAt),
    rate_limit_rpm: key.rateLimitRpm,
    monthly_limit: limit && {
      limit_usd: toExact(limit),
      spent_usd: toExact(spent),
      held_usd: toExact(held),
      remaining_usd: left(limit, add(spent, held)),
      on_limit: key.onLimit,
      refused_usd: toExact(parseDecimal(used.refused_usd)),
      resets_at: toInstant(Date.parse(`${monthOf(now).until}T00:00:00Z`)),
    },
  };
}

const listOrNull = <Item>(list: Item[] | undefined) => (list?.length ? list : null);

function left(limit: Decimal, spent: Decimal) {
  const rest = subtract(limit, spent);
  return toExact(compare(rest, zero) < 0 ? zero : rest);
}

/**
 * A budget with its figures, for a caller who may read them.
 * @param refused what limits refused of it, USD as exact text
 * @param held what reservations hold of it, USD; undefined if that was not read
 */
export function toReadable(row: BudgetRow, refused = "0", held?: Decimal): CoveringBudget {
  const [limit, spent] = [parseDecimal(row.limit_usd), parseDecimal(row.spent)];
  return {
    id: row.id,
    name: row.name,
    scope_type: row.scope_type,
    blocks: row.blocks,
    is_used_up: compare(spent, limit) >= 0,
    period: row.period,
    period_from: row.period_from,
    period_until: row.period_until,
    time_zone: row.time_zone,
    resets_at: toInstant(Number(row.resets_ms)),
    limit_usd: toExact(limit),
    spent_usd: toExact(spent),
    held_usd: held === undefined ? null : toExact(held),
    remaining_usd: left(limit, add(spent, held ?? zero)),
    refused_usd: toExact(parseDecimal(refused)),
  };
}

/** Budgets whose figures the key may not read. */
function toNamed(rows: BlockingBudgetRow[], held: ReadonlyMap<string, Decimal>): CoveringBudget[] {
  return parseBudgets(rows, [], held).flatMap((budget) =>
    budget.periods.map((period) => ({
      id: budget.id,
      name: budget.name,
      scope_type: budget.scope_type,
      blocks: true,
      is_used_up: isUsedUp(period, period.spent),
      period: null,
      period_from: period.from,
      period_until: period.until,
      time_zone: budget.time_zone,
      resets_at: toInstant(resetOf(budget, period)),
      limit_usd: null,
      spent_usd: null,
      held_usd: null,
      remaining_usd: null,
      refused_usd: null,
    })),
  );
}
