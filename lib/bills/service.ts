import type { PoolClient } from "pg";
import { requireMembership } from "@/lib/access/workspaces/membership";
import type { AddBillRequest, AddedBill, Bill, BillList, BillPeriod } from "@/lib/contract/bills/bills";
import { ExactNumber } from "@/lib/contract/values/exact-number";
import { toInstant } from "@/lib/contract/values/instant";
import { newId } from "@/lib/db/new-id";
import { asServiceWithin, asUser, asUserReading, type UserClaims } from "@/lib/db/transaction";
import { compare, type Decimal, multiply, parseDecimal, sum, toText, zero } from "@/lib/decimal";
import { notFound, ServiceError } from "@/lib/errors";
import { toExact } from "@/lib/ledger/pricing/exact";
import { addDays } from "@/lib/spend/period";
import {
  addBill,
  type BillRow,
  type Books,
  deleteBill,
  type StatementRow,
  selectBills,
  selectRecorded,
  selectStatements,
} from "./bill-queries";
import { type BillFile, readBillFile } from "./read-file";
import { providerKeyOf } from "./read-row";
import { daysOf, isChange, judgeStatements, type Standing } from "./statements";

const maxChanges = 100;
const maxPeriods = 400;

/** From this many times what was recorded on, or below its part, a bill is doubted. */
const jump = parseDecimal(20);

/** Lists a workspace's bills, for its members. @throws ServiceError not_found */
export function listBills(claims: UserClaims, slug: string): Promise<BillList> {
  return asUserReading(claims, async (client) => {
    const { id, role } = await requireMembership(client, claims, slug);
    const statements = await selectStatements(client, id);
    const { standings } = judgeStatements(statements);
    const bills = await selectBills(client, id);
    return {
      bills: bills.map((row) =>
        toBill(
          row,
          statements.filter(({ bill_id }) => bill_id === row.id),
          standings,
        ),
      ),
      can_edit: ["owner", "admin"].includes(role),
    };
  });
}

/**
 * Adds a bill from a file, for admins; a dry run only reads it.
 * @throws ServiceError not_found, permission_denied; validation_failed with what is wrong in which line; conflict where the content is
 *   there already, where only a part of an earlier statement's days would be replaced, or where the amounts are doubted
 */
export async function addBillFile(
  claims: UserClaims,
  slug: string,
  request: AddBillRequest,
): Promise<AddedBill> {
  const open = (client: PoolClient) => requireMembership(client, claims, slug, "admin");
  // Nobody else's file is read.
  await asUserReading(claims, open);
  const file = await readBillFile(request);
  return asUser(claims, async (client) => {
    const { id: workspaceId, time_zone: timeZone } = await open(client);
    const jumps = await findJumps(client, { id: workspaceId, timeZone }, file);
    if (request.dry_run) {
      const drafts = file.statements.map((statement) => ({ ...statement, ...draftOf(statement) }));
      return toAdded(null, file, [...(await selectStatements(client, workspaceId)), ...drafts], jumps);
    }
    if (jumps[0] && !request.accept_jump) throw isDoubted(jumps[0]);
    const id = await asServiceWithin(client, () =>
      addBill(client, workspaceId, toStored(request.name, file)),
    );
    if (id === null) {
      const message =
        "A file with the same content is there already. Delete it first to read it in another way.";
      throw new ServiceError("conflict", message);
    }
    const statements = await selectStatements(client, workspaceId);
    await requireWhole(client, workspaceId, statements);
    return toAdded(id, file, statements, jumps);
  });
}

/**
 * Deletes a bill, for admins. What it replaced counts again.
 * @throws ServiceError not_found, permission_denied; conflict where only a part of a statement's days would have a bill then, or where
 *   the next pull would bring it back
 */
export function removeBill(claims: UserClaims, slug: string, id: string): Promise<Bill> {
  return asUser(claims, async (client) => {
    const { id: workspaceId } = await requireMembership(client, claims, slug, "admin");
    const row = (await selectBills(client, workspaceId)).find((each) => each.id === id);
    if (!row) throw notFound();
    if (row.provider_account_id !== null)
      throw new ServiceError(
        "conflict",
        "This bill is pulled from a provider, and the next pull would bring it back. Remove the provider account first.",
      );
    const statements = await selectStatements(client, workspaceId);
    const { standings } = judgeStatements(statements);
    const last = toBill(
      row,
      statements.filter(({ bill_id }) => bill_id === id),
      standings,
    );
    if (!(await asServiceWithin(client, () => deleteBill(client, workspaceId, id)))) throw notFound();
    await requireWhole(client, workspaceId, await selectStatements(client, workspaceId));
    return last;
  });
}

/** @throws ServiceError conflict where a statement counts on some of its days alone, so that the others have no bill */
async function requireWhole(
  client: PoolClient,
  workspaceId: string,
  statements: StatementRow[],
): Promise<void> {
  const { torn } = judgeStatements(statements);
  if (!torn) return;
  const names = new Map((await selectBills(client, workspaceId)).map(({ id, name }) => [id, name]));
  const nameOf = ({ bill_id }: StatementRow) => `“${names.get(bill_id) ?? "another bill"}”`;
  const { from, until, provider } = torn.statement;
  throw new ServiceError(
    "conflict",
    `${nameOf(torn.statement)} bills ${provider} from ${from} to ${addDays(until, -1)} as a whole, and ${nameOf(torn.by)} only some of these days. Delete one of them, or add a file with all of these days.`,
  );
}

/** The file as `private.add_bill` takes it. */
export function toStored(name: string, file: Omit<BillFile, "columns" | "unused">): object {
  const statements = file.statements.map((statement) => ({ id: newId(), ...statement }));
  return {
    name,
    format: file.format,
    sha256: file.sha256,
    row_count: file.rowCount,
    left_out_count: file.leftOutCount,
    left_out_usd: toText(file.leftOut),
    statements: statements.map(({ id, provider, account, from, until, amount }) => {
      return { id, provider, account, starts_on: from, ends_on: until, amount_usd: toText(amount) };
    }),
    facts: statements.flatMap(({ id, facts }) =>
      facts.map(({ amount, list, quantity, key, user, ...coordinates }) => ({
        statement_id: id,
        ...coordinates,
        key_name: key,
        end_user: user,
        amount_usd: toText(amount),
        list_usd: list && toText(list),
        quantity: quantity && toText(quantity),
      })),
    ),
  };
}

/** A statement of a dry run, as if it were stored. */
const draftOf = ({
  amount,
}: BillFile["statements"][number]): Pick<StatementRow, "id" | "bill_id" | "amount_usd"> => ({
  id: "",
  bill_id: "",
  amount_usd: toText(amount),
});

type Jump = { provider: string; billed: Decimal; recorded: Decimal };

/** The providers of which a file bills many times what was recorded on its days, or a small part of it. */
async function findJumps(client: PoolClient, books: Books, { statements }: BillFile): Promise<Jump[]> {
  const firsts = statements.map(({ from }) => from).sort();
  const lasts = statements.map(({ until }) => until).sort();
  const [from, until] = [firsts[0] ?? "", lasts.at(-1) ?? ""];
  const rows = await selectRecorded(client, books, from, until, "provider");
  return [...new Set(statements.map(({ provider }) => provider))].flatMap((provider) => {
    const own = statements.filter((each) => each.provider === provider);
    const days = new Set(own.flatMap(daysOf));
    const billed = sum(own.map(({ amount }) => amount));
    const recorded = sum(
      rows
        .filter((row) => providerKeyOf(row.provider) === provider && days.has(row.day))
        .map((row) => parseDecimal(row.amount_usd)),
    );
    if (compare(recorded, zero) <= 0 || compare(billed, zero) <= 0) return [];
    const isFar =
      compare(billed, multiply(recorded, jump)) >= 0 || compare(recorded, multiply(billed, jump)) >= 0;
    return isFar ? [{ provider, billed, recorded }] : [];
  });
}

function isDoubted({ provider, billed, recorded }: Jump): ServiceError {
  return new ServiceError(
    "conflict",
    `The file bills $${toText(billed)} of ${provider}, and $${toText(recorded)} was recorded on its days. If the amounts are cents, set amounts_in to cents. If they are right, set accept_jump to true.`,
    { provider },
  );
}

function toAdded(id: string | null, file: BillFile, statements: StatementRow[], jumps: Jump[]): AddedBill {
  const { standings } = judgeStatements(statements);
  const own = statements.filter(({ bill_id }) => bill_id === (id ?? ""));
  return {
    id,
    format: file.format,
    columns: file.columns as Record<string, string>,
    unused: file.unused,
    row_count: file.rowCount,
    left_out_count: file.leftOutCount,
    left_out_usd: toExact(file.leftOut),
    amount_usd: toExact(sum(file.statements.map(({ amount }) => amount))),
    periods: own.slice(0, maxPeriods).map((statement) => toPeriod(statement, standings.get(statement))),
    jumps: jumps.map(({ provider, billed, recorded }) => ({
      provider,
      billed_usd: toExact(billed),
      recorded_usd: toExact(recorded),
    })),
  };
}

function toBill(row: BillRow, own: StatementRow[], standings: Map<StatementRow, Standing>): Bill {
  const { created_at: createdAt, created_by_email: createdBy, left_out_usd: leftOut, ...rest } = row;
  const usdOf = (statements: StatementRow[]) =>
    toExact(sum(statements.map(({ amount_usd }) => parseDecimal(amount_usd))));
  const changes = own.filter((one) => isChange(standings.get(one) ?? unjudged, one));
  const days = own.flatMap(({ from, until }) => [from, addDays(until, -1)]).sort();
  return {
    ...rest,
    left_out_usd: new ExactNumber(leftOut),
    providers: [...new Set(own.map(({ provider }) => provider))].sort(),
    from: days[0] ?? "",
    to: days.at(-1) ?? "",
    amount_usd: usdOf(latestOf(own)),
    counted_usd: usdOf(own.filter((one) => !standings.get(one)?.isReplaced)),
    changes: changes
      .sort((a, b) => (a.from < b.from ? 1 : -1))
      .slice(0, maxChanges)
      .map((one) => toPeriod(one, standings.get(one))),
    created_at: toInstant(createdAt.getTime()),
    created_by: createdBy,
  };
}

/** The last statement of each period: a pulled bill keeps what the provider said before. */
const latestOf = (statements: StatementRow[]): StatementRow[] => [
  ...new Map(
    statements.map((one) => [[one.provider, one.account, one.from, one.until].join("\n"), one]),
  ).values(),
];

const unjudged: Standing = { isReplaced: false, former: null };

function toPeriod(statement: StatementRow, standing: Standing = unjudged): BillPeriod {
  const { provider, account, from, until, amount_usd: amount } = statement;
  const { isReplaced, former } = standing;
  return {
    provider,
    account: account || null,
    from,
    to: addDays(until, -1),
    amount_usd: new ExactNumber(amount),
    former_usd: former !== null && isChange(standing, statement) ? toExact(former) : null,
    is_replaced: isReplaced,
  };
}
