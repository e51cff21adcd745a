import type { PoolClient } from "pg";
import { requireMembership } from "@/lib/access/workspaces/membership";
import { type DifferencePart, differenceParts } from "@/lib/contract/bills/difference-parts";
import type {
  LearnedPrice,
  ReconciledCell,
  ReconciledDetail,
  ReconciledModel,
  ReconciledMonth,
  ReconciledUser,
  Reconciliation,
} from "@/lib/contract/bills/reconciliation";
import { ExactNumber } from "@/lib/contract/values/exact-number";
import { asKey, asUserReading, type KeyClaims, type UserClaims } from "@/lib/db/transaction";
import { absolute, add, compare, type Decimal, isZero, parseDecimal, sum, zero } from "@/lib/decimal";
import { groupBy } from "@/lib/group-by";
import { loadKeyClock } from "@/lib/ledger/days";
import { toExact } from "@/lib/ledger/pricing/exact";
import { addDays } from "@/lib/spend/period";
import { selectAdjusted, selectAdjustedByMonth } from "./adjustment-queries";
import { type Books, selectRecorded } from "./bill-queries";
import { type Coverage, type Covered, coveragePercent, coverMonths, loadCoverage } from "./coverage";
import type { Explained } from "./explain";
import { type LearnedRate, learnPrices } from "./learn-prices";
import { loadCells, loadCounted, loadUsers, type ReconciledCells } from "./load-cells";
import { type Cell, differenceOf, sumCells } from "./match";
import { toUserRows, type UserRow } from "./people";
import { firstDayAfter, providerKeyOf } from "./read-row";
import { daysOf } from "./statements";
import { findUnseenKeys } from "./unseen-keys";

const maxCells = 1000;
const maxModels = 500;
const maxLines = 20;
const maxPrices = 50;
const maxKeys = 20;
const maxUsers = 100;

/** The most months in an answer. */
const maxMonths = 36;

/**
 * Holds what was billed against what was recorded, for members.
 * @param month `YYYY-MM` to explain, or the latest that has a bill
 * @throws ServiceError not_found
 */
export function readReconciliation(
  claims: UserClaims,
  slug: string,
  month: string | undefined,
): Promise<Reconciliation> {
  return asUserReading(claims, async (client) => {
    const { id, time_zone: timeZone } = await requireMembership(client, claims, slug);
    return loadReconciliation(client, { id, timeZone }, month);
  });
}

/** Like `readReconciliation`, for a key that may read all live spend; others see no bills. */
export function readReconciliationOfKey(
  claims: KeyClaims,
  month: string | undefined,
): Promise<Reconciliation> {
  return asKey(claims, async (client, now) => {
    const { timeZone } = await loadKeyClock(client, claims.workspace_id, now);
    return loadReconciliation(client, { id: claims.workspace_id, timeZone }, month);
  });
}

async function loadReconciliation(
  client: PoolClient,
  books: Books,
  month: string | undefined,
): Promise<Reconciliation> {
  const counted = await loadCounted(client, books.id);
  const adjusted = await selectAdjustedByMonth(client, books.id);
  const inMonth = (name: string) => (day: string) => day.startsWith(name);
  const named = [...counted.map(({ from }) => from.slice(0, 7)), ...adjusted.map((row) => row.month)];
  const months = [...new Set(named)].sort().slice(-maxMonths);
  const [first, last] = [months[0], months.at(-1)];
  if (first === undefined || last === undefined) return { months: [], detail: null };
  const [from, until] = [`${first}-01`, firstDayAfter(last)];
  const rows = await selectRecorded(client, books, from, until, "provider");
  const covered = coverMonths(counted, [...rows, ...(await selectAdjusted(client, books.id, from, until))]);
  const known = rows.map((row) => ({ ...row, key: providerKeyOf(row.provider) }));
  const usdOf = (of: readonly { amount_usd: string }[]) =>
    sum(of.map(({ amount_usd }) => parseDecimal(amount_usd)));
  const sumMonth = (name: string): ReconciledMonth => {
    const own = counted.filter(({ from }) => inMonth(name)(from));
    const booked = adjusted.filter((row) => row.month === name);
    const providers = new Set([...own, ...booked].map(({ provider }) => provider));
    const recorded = known.filter(({ day }) => inMonth(name)(day));
    const sums = {
      billed: usdOf(own),
      recorded: usdOf(recorded.filter(({ key }) => providers.has(key))),
      adjusted: usdOf(booked),
    };
    const last = own
      .map(({ until }) => until)
      .sort()
      .at(-1);
    return {
      month: name,
      ...toSums(sums),
      ...toCoverage(covered.find(({ month }) => month === name)),
      recorded_elsewhere_usd: toExact(
        usdOf(recorded.filter(({ key, is_usage }) => is_usage && !providers.has(key))),
      ),
      billed_through: last === undefined ? null : addDays(last, -1),
    };
  };
  const explained = month === "latest" ? last : months.find((name) => name === month);
  return {
    months: months.map(sumMonth).reverse(),
    detail:
      explained === undefined
        ? null
        : await loadDetail(client, books, explained, {
            found: await loadCells(client, books, explained, counted),
            covered,
          }),
  };
}

/** A month in detail, with every cell and person; undefined if it has neither a bill nor an adjustment. */
export async function loadWholeDetail(
  client: PoolClient,
  books: Books,
  month: string,
): Promise<ReconciledDetail | undefined> {
  const found = await loadCells(client, books, month, await loadCounted(client, books.id));
  const covered = await loadCoverage(client, books, `${month}-01`);
  return found.providers.length === 0
    ? undefined
    : loadDetail(
        client,
        books,
        month,
        { found, covered },
        { cells: Number.POSITIVE_INFINITY, users: Number.POSITIVE_INFINITY },
      );
}

async function loadDetail(
  client: PoolClient,
  books: Books,
  month: string,
  known: { found: ReconciledCells; covered: readonly Coverage[] },
  atMost = { cells: maxCells, users: maxUsers },
): Promise<ReconciledDetail> {
  const { cells, statements, providers, names } = known.found;
  const covered = known.covered.find((one) => one.month === month);
  const users = await loadUsers(client, books, month, known.found);
  const differing = [...cells].sort(
    (a, b) =>
      compare(absolute(differenceOf(b)), absolute(differenceOf(a))) ||
      (a.from < b.from ? -1 : a.from > b.from ? 1 : 0),
  );
  return {
    month,
    ...toExplained(sumCells(cells)),
    ...toCoverage(covered),
    providers: providers.map((provider) => {
      const own = statements.filter((one) => one.provider === provider);
      return {
        provider,
        ...toExplained(sumCells(cells.filter((cell) => cell.provider === provider))),
        ...toCoverage(covered?.providers.find((one) => one.provider === provider)),
        billed_days: new Set(own.flatMap(daysOf)).size,
      };
    }),
    models: sumModels(cells).slice(0, maxModels),
    cells: differing.slice(0, atMost.cells).map(toCell),
    cell_count: cells.length,
    users: toUserRows(users, atMost.users).map(toUser),
    unseen_keys: findUnseenKeys(cells)
      .slice(0, maxKeys)
      .map(({ amount, until, ...key }) => ({ ...key, to: addDays(until, -1), amount_usd: toExact(amount) })),
    learned_prices: learnPrices(cells, names).slice(0, maxPrices).map(toLearned),
  };
}

/** The sums of cells by provider and model, the largest difference first. */
function sumModels(cells: readonly Cell[]): ReconciledModel[] {
  const byModel = groupBy(cells, ({ provider, model }) => JSON.stringify([provider, model]));
  return [...byModel.values()]
    .map((own) => ({ provider: own[0]?.provider ?? "", model: own[0]?.model ?? null, sums: sumCells(own) }))
    .sort((a, b) => compare(absolute(differenceOf(b.sums)), absolute(differenceOf(a.sums))))
    .map(({ provider, model, sums }) => ({ provider, model, ...toExplained(sums) }));
}

const toSums = (sums: { billed: Decimal; recorded: Decimal; adjusted: Decimal }) => ({
  billed_usd: toExact(sums.billed),
  recorded_usd: toExact(add(sums.recorded, sums.adjusted)),
  adjusted_usd: toExact(sums.adjusted),
  difference_usd: toExact(differenceOf(sums)),
});

const toUser = ({ provider, user, kind, count, ...sums }: UserRow): ReconciledUser => ({
  ...{ provider, user, kind, user_count: count },
  ...toSums(sums),
});

/** @param covered undefined if there is no bill */
const toCoverage = (covered: Covered | undefined) => {
  const percent = covered && coveragePercent(covered);
  return {
    missing_usd: toExact(covered?.missing ?? zero),
    coverage_percent: percent ? new ExactNumber(percent) : null,
  };
};

const toParts = (parts: Explained["parts"]) =>
  (Object.keys(differenceParts) as DifferencePart[]).flatMap((part) => {
    const amount = parts.get(part);
    return amount === undefined ? [] : [{ part, amount_usd: toExact(amount) }];
  });

const toExplained = ({ parts, billedUnits, recordedUnits, ...sums }: ReturnType<typeof sumCells>) => ({
  ...toSums(sums),
  parts: toParts(parts),
  units: isZero(billedUnits)
    ? null
    : { billed_units: toExact(billedUnits), recorded_units: toExact(recordedUnits) },
});

const toLearned = ({
  unit,
  rate,
  recordedRate,
  quantity,
  before,
  after,
  ...learned
}: LearnedRate): LearnedPrice => ({
  ...learned,
  unit_type: unit,
  rate: toExact(rate),
  recorded_rate: recordedRate && toExact(recordedRate),
  quantity: toExact(quantity),
  now_usd: toExact(before),
  then_usd: toExact(after),
});

function toCell({ provider, from, until, model, parts, facts, ...sums }: Cell): ReconciledCell {
  const shown = compare(parts.get("unexplained") ?? zero, zero) === 0 ? [] : facts.slice(0, maxLines);
  return {
    ...{ provider, from, to: addDays(until, -1), model },
    ...toSums(sums),
    parts: toParts(parts),
    lines: shown.map(({ line, unit, tier, key, amount, list, quantity }) => ({
      ...{ line, unit, tier, key },
      amount_usd: toExact(amount),
      list_usd: list && toExact(list),
      quantity: quantity && toExact(quantity),
    })),
  };
}
