import type { ClientBase, PoolClient } from "pg";
import { compare, parseDecimal, zero } from "@/lib/decimal";
import { unitName } from "@/lib/ledger/pricing/units";
import { selectAdjusted } from "./adjustment-queries";
import {
  type Books,
  type StatementRow,
  selectBilledByUser,
  selectFacts,
  selectRecorded,
  selectRefusedByModel,
  selectStatements,
  selectUsed,
} from "./bill-queries";
import { inferQuantities } from "./infer-quantities";
import { type Cell, checkedRows, type RecordedRow, reconcileProvider, sumByModel } from "./match";
import { sumByUser, type UserSums } from "./people";
import { firstDayAfter, providerKeyOf } from "./read-row";
import { type BilledFact, judgeStatements } from "./statements";

/** Up to this many lines of the ledger, usage is compared by unit; beyond, models are compared by amount only. */
const maxLedgerLines = 500_000;

/** The statements of a workspace that no later statement replaces. @param since the first day of a month; all months by default */
export async function loadCounted(
  client: ClientBase,
  workspaceId: string,
  since?: string,
): Promise<StatementRow[]> {
  const statements = await selectStatements(client, workspaceId, since);
  const { standings } = judgeStatements(statements);
  return statements.filter((one) => !standings.get(one)?.isReplaced);
}

/**
 * The billed and recorded costs of a month. `providers`: the keys of providers with a bill or an adjustment. `names`: the most frequent
 * recorded spelling of each provider.
 */
export type ReconciledCells = {
  cells: Cell[];
  statements: StatementRow[];
  providers: string[];
  names: Map<string, string>;
};

/** Matches the billed costs of a month with the recorded ones. @param counted the result of `loadCounted` */
export async function loadCells(
  client: PoolClient,
  books: Books,
  month: string,
  counted: readonly StatementRow[],
): Promise<ReconciledCells> {
  const [from, until] = [`${month}-01`, firstDayAfter(month)];
  const statements = counted.filter(({ from: first }) => first.startsWith(month));
  const facts = new Map<string, BilledFact[]>();
  const ids = statements.map(({ id }) => id);
  for (const { statement_id: id, ...row } of await selectFacts(client, books.id, ids)) {
    const found = facts.get(id) ?? [];
    facts.set(id, found);
    found.push(toFact(row));
  }
  const adjusted = (await selectAdjusted(client, books.id, from, until)).map(
    ({ amount_usd: amount, ...row }) => ({ ...row, amount: parseDecimal(amount) }),
  );
  const providers = [...new Set([...statements, ...adjusted].map(({ provider }) => provider))].sort();
  const { recorded, names } = await loadRecorded(client, books, month, providers);
  const refused = (await selectRefusedByModel(client, books.id, from, until)).map(
    ({ provider, amount_usd: amount, ...row }) => ({
      ...row,
      provider: providerKeyOf(provider),
      amount: parseDecimal(amount),
    }),
  );
  const of = <T extends { provider: string }>(rows: readonly T[], provider: string) =>
    rows.filter((row) => row.provider === provider);
  const cells = providers.flatMap((provider) =>
    reconcileProvider(
      provider,
      of(statements, provider).map(({ id, ...period }) => ({
        ...{ provider, from: period.from, until: period.until },
        facts: inferQuantities(provider, period.from, facts.get(id) ?? []),
      })),
      of(recorded, provider),
      of(refused, provider),
      of(adjusted, provider),
    ),
  );
  return { cells, statements, providers, names };
}

/** The same amounts by person, of the providers whose bills name any. */
export async function loadUsers(
  client: PoolClient,
  books: Books,
  month: string,
  { statements, cells }: ReconciledCells,
): Promise<UserSums[]> {
  const billed = await selectBilledByUser(
    client,
    books.id,
    statements.map(({ id }) => id),
  );
  if (billed.length === 0) return [];
  const rows = await selectRecorded(client, books, `${month}-01`, firstDayAfter(month), "user");
  const amountOf = ({ provider, end_user: user, amount_usd: usd }: (typeof billed)[number]) => ({
    ...{ provider, user },
    amount: parseDecimal(usd),
  });
  const recorded = rows.map((row) => amountOf({ ...row, provider: providerKeyOf(row.provider) }));
  const adjusted = cells
    .map(({ provider, adjusted: amount }) => ({ provider, amount }))
    .filter(({ amount }) => compare(amount, zero) !== 0);
  return sumByUser(billed.map(amountOf), recorded, adjusted);
}

/** The recorded costs of some providers in a month: by unit, unless there are too many lines or the units do not sum to the total. */
async function loadRecorded(
  client: PoolClient,
  books: Books,
  month: string,
  providers: string[],
): Promise<{ recorded: RecordedRow[]; names: Map<string, string> }> {
  const [from, until] = [`${month}-01`, firstDayAfter(month)];
  const rows = await selectRecorded(client, books, from, until, "model");
  const own = rows
    .map((row) => ({ ...row, key: providerKeyOf(row.provider) }))
    .filter(({ key }) => providers.includes(key));
  const names = new Map(
    [...own]
      .sort((a, b) => Number(a.line_count) - Number(b.line_count))
      .map((row) => [row.key, row.provider]),
  );
  const whole = sumByModel(
    own.map(({ day, key, model, amount_usd, is_unpriced }) => ({
      ...{ provider: key, day, model, unit: null, tier: null, quantity: null },
      amount: parseDecimal(amount_usd),
      isUnpriced: is_unpriced,
    })),
  );
  const lines = own.reduce((count, { line_count: more }) => count + Number(more), 0);
  if (lines > maxLedgerLines) return { recorded: checkedRows(whole, []), names };
  const spellings = [...new Set(own.map(({ provider }) => provider))];
  const used = await selectUsed(client, books.id, from, until, spellings);
  const byUnit = used.map(
    ({ day, provider, model, unit, tier, is_unpriced, is_given, amount_usd, quantity }) => ({
      ...{ provider: providerKeyOf(provider), day, model },
      unit: unit === null ? null : unitName(unit),
      tier: tier === "standard" ? null : tier,
      quantity: quantity === null ? null : parseDecimal(quantity),
      amount: parseDecimal(amount_usd),
      isUnpriced: is_unpriced,
      isGiven: is_given,
    }),
  );
  return { recorded: checkedRows(whole, byUnit), names };
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
