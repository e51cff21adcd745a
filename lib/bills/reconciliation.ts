import type { PoolClient } from "pg";
import { requireMembership } from "@/lib/access/workspaces/membership";
import { type DifferencePart, differenceParts } from "@/lib/contract/bills/difference-parts";
import type {
  ReconciledCell,
  ReconciledDetail,
  ReconciledModel,
  ReconciledMonth,
  Reconciliation,
} from "@/lib/contract/bills/reconciliation";
import { asKey, asUserReading, type KeyClaims, type UserClaims } from "@/lib/db/transaction";
import { absolute, compare, type Decimal, isZero, parseDecimal, subtract, sum, zero } from "@/lib/decimal";
import { loadKeyClock } from "@/lib/ledger/days";
import { toExact } from "@/lib/ledger/pricing/exact";
import { unitName } from "@/lib/ledger/pricing/units";
import { addDays } from "@/lib/spend/period";
import {
  type Books,
  type StatementRow,
  selectFacts,
  selectRecorded,
  selectRefusedByModel,
  selectStatements,
  selectUsed,
} from "./bill-queries";
import type { Explained } from "./explain";
import {
  type Cell,
  checkedRows,
  groupBy,
  type RecordedRow,
  reconcileProvider,
  sumByModel,
  sumCells,
} from "./match";
import { firstDayAfter, providerKeyOf } from "./read-row";
import { type BilledFact, daysOf, judgeStatements } from "./statements";

const maxCells = 1000;
const maxModels = 500;
const maxLines = 20;

/** The most lines of the ledger of which units are read. Beyond, models are compared by their amounts. */
const maxLedgerLines = 500_000;

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
  const statements = await selectStatements(client, books.id);
  const { standings } = judgeStatements(statements);
  const counted = statements.filter((one) => !standings.get(one)?.isReplaced);
  const months = [...new Set(counted.map(({ from }) => from.slice(0, 7)))].sort().slice(-maxMonths);
  const [first, last] = [months[0], months.at(-1)];
  if (first === undefined || last === undefined) return { months: [], detail: null };
  const rows = await selectRecorded(client, books, `${first}-01`, firstDayAfter(last), "provider");
  const known = rows.map((row) => ({ ...row, key: providerKeyOf(row.provider) }));
  const inMonth = (name: string) => (day: string) => day.startsWith(name);
  const sumMonth = (name: string): ReconciledMonth => {
    const own = counted.filter(({ from }) => inMonth(name)(from));
    const providers = new Set(own.map(({ provider }) => provider));
    const recorded = known.filter(({ day }) => inMonth(name)(day));
    const usdOf = (of: readonly { amount_usd: string }[]) =>
      sum(of.map(({ amount_usd }) => parseDecimal(amount_usd)));
    const billed = usdOf(own);
    const here = usdOf(recorded.filter(({ key }) => providers.has(key)));
    return {
      month: name,
      ...toSums(billed, here),
      recorded_elsewhere_usd: toExact(
        usdOf(recorded.filter(({ key, is_usage }) => is_usage && !providers.has(key))),
      ),
      billed_through: addDays(
        own
          .map(({ until }) => until)
          .sort()
          .at(-1) ?? `${name}-01`,
        -1,
      ),
    };
  };
  const explained = month === "latest" ? last : months.find((name) => name === month);
  return {
    months: months.map(sumMonth).reverse(),
    detail:
      explained === undefined
        ? null
        : await loadDetail(
            client,
            books,
            explained,
            counted.filter(({ from }) => inMonth(explained)(from)),
          ),
  };
}

async function loadDetail(
  client: PoolClient,
  books: Books,
  month: string,
  statements: StatementRow[],
): Promise<ReconciledDetail> {
  const facts = new Map<string, BilledFact[]>();
  for (const { statement_id: id, ...row } of await selectFacts(
    client,
    books.id,
    statements.map(({ id }) => id),
  )) {
    const found = facts.get(id) ?? [];
    facts.set(id, found);
    found.push(toFact(row));
  }
  const providers = [...new Set(statements.map(({ provider }) => provider))].sort();
  const recorded = await loadRecorded(client, books, month, providers);
  const refused = (await selectRefusedByModel(client, books.id, `${month}-01`, firstDayAfter(month))).map(
    ({ provider, amount_usd: amount, ...row }) => ({
      ...row,
      provider: providerKeyOf(provider),
      amount: parseDecimal(amount),
    }),
  );
  const cells = providers.flatMap((provider) =>
    reconcileProvider(
      provider,
      statements
        .filter((one) => one.provider === provider)
        .map(({ id, from, until }) => ({ provider, from, until, facts: facts.get(id) ?? [] })),
      recorded.filter((row) => row.provider === provider),
      refused.filter((row) => row.provider === provider),
    ),
  );
  const differing = [...cells].sort(
    (a, b) =>
      compare(absolute(differenceOf(b)), absolute(differenceOf(a))) ||
      (a.from < b.from ? -1 : a.from > b.from ? 1 : 0),
  );
  return {
    month,
    ...toExplained(sumCells(cells)),
    providers: providers.map((provider) => {
      const own = statements.filter((one) => one.provider === provider);
      return {
        provider,
        ...toExplained(sumCells(cells.filter((cell) => cell.provider === provider))),
        billed_days: new Set(own.flatMap(daysOf)).size,
      };
    }),
    models: sumModels(cells).slice(0, maxModels),
    cells: differing.slice(0, maxCells).map(toCell),
    cell_count: cells.length,
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

/** What was recorded of some providers in a month: by unit, where there are not too many lines, and they sum to the whole. */
async function loadRecorded(
  client: PoolClient,
  books: Books,
  month: string,
  providers: string[],
): Promise<RecordedRow[]> {
  const [from, until] = [`${month}-01`, firstDayAfter(month)];
  const rows = await selectRecorded(client, books, from, until, "model");
  const own = rows
    .map((row) => ({ ...row, key: providerKeyOf(row.provider) }))
    .filter(({ key }) => providers.includes(key));
  const whole = sumByModel(
    own.map(({ day, key, model, amount_usd, is_unpriced }) => ({
      ...{ provider: key, day, model, unit: null, tier: null, quantity: null },
      amount: parseDecimal(amount_usd),
      isUnpriced: is_unpriced,
    })),
  );
  const lines = own.reduce((count, { line_count: more }) => count + Number(more), 0);
  if (lines > maxLedgerLines) return checkedRows(whole, []);
  const names = [...new Set(own.map(({ provider }) => provider))];
  const used = await selectUsed(client, books.id, from, until, names);
  const byUnit = used.map(({ day, provider, model, unit, tier, is_unpriced, amount_usd, quantity }) => ({
    ...{ provider: providerKeyOf(provider), day, model },
    unit: unit === null ? null : unitName(unit),
    tier: tier === "standard" ? null : tier,
    quantity: quantity === null ? null : parseDecimal(quantity),
    amount: parseDecimal(amount_usd),
    isUnpriced: is_unpriced,
  }));
  return checkedRows(whole, byUnit);
}

const toFact = ({
  key_name: key,
  amount_usd: amount,
  list_usd: list,
  quantity,
  ...coordinates
}: Omit<Awaited<ReturnType<typeof selectFacts>>[number], "statement_id">): BilledFact => ({
  ...coordinates,
  key,
  amount: parseDecimal(amount),
  list: list === null ? null : parseDecimal(list),
  quantity: quantity === null ? null : parseDecimal(quantity),
});

const differenceOf = ({ billed, recorded }: Pick<Cell, "billed" | "recorded">) => subtract(billed, recorded);

const toSums = (billed: Decimal, recorded: Decimal) => ({
  billed_usd: toExact(billed),
  recorded_usd: toExact(recorded),
  difference_usd: toExact(subtract(billed, recorded)),
});

const toParts = (parts: Explained["parts"]) =>
  (Object.keys(differenceParts) as DifferencePart[]).flatMap((part) => {
    const amount = parts.get(part);
    return amount === undefined ? [] : [{ part, amount_usd: toExact(amount) }];
  });

const toExplained = ({
  billed,
  recorded,
  parts,
  billedUnits,
  recordedUnits,
}: ReturnType<typeof sumCells>) => ({
  ...toSums(billed, recorded),
  parts: toParts(parts),
  coverage: isZero(billedUnits)
    ? null
    : { billed_units: toExact(billedUnits), recorded_units: toExact(recordedUnits) },
});

function toCell({ provider, from, until, model, billed, recorded, parts, facts }: Cell): ReconciledCell {
  const shown = compare(parts.get("unexplained") ?? zero, zero) === 0 ? [] : facts.slice(0, maxLines);
  return {
    ...{ provider, from, to: addDays(until, -1), model },
    ...toSums(billed, recorded),
    parts: toParts(parts),
    lines: shown.map(({ line, unit, tier, key, amount, list, quantity }) => ({
      ...{ line, unit, tier, key },
      amount_usd: toExact(amount),
      list_usd: list && toExact(list),
      quantity: quantity && toExact(quantity),
    })),
  };
}
