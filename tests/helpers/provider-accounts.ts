import { randomUUID } from "node:crypto";
import { expect } from "vitest";
import type { BillList } from "@/lib/contract/bills/bills";
import type { ProviderAccount } from "@/lib/contract/bills/provider-accounts";
import type { PulledProvider } from "@/lib/contract/bills/pulled-providers";
import { parseDecimal, sum, toText } from "@/lib/decimal";
import type { Organization, TrueLine } from "@/tests/providers/simulator/simulate-providers";
import { makeTeam } from "./team";
import type { WithProviders } from "./with-providers";

const dayMs = 86_400_000;
/** The day some days before today, such as 2026-11-03. */
export const daysAgo = (days: number) => new Date(Date.now() - days * dayMs).toISOString().slice(0, 10);

/** Amounts with more digits than a double has, so that a float would show. */
export const lineOf = (daysBack: number, more: Partial<TrueLine> = {}): TrueLine => ({
  ...{ day: daysAgo(daysBack), model: "gpt-5", unit: "input_tokens", key: "key_prod", quantity: 1_000_000 },
  ...{ usd: `${1 + daysBack / 1000}0000000000001`, ...more },
});

/** A bill of some past days, two lines a day. */
export const billOf = (first: number, last: number): TrueLine[] =>
  Array.from({ length: first - last + 1 }, (_, index) => first - index).flatMap((daysBack) => [
    lineOf(daysBack),
    lineOf(daysBack, { unit: "output_tokens", usd: "2.000000000000000001", quantity: 500 }),
  ]);

/**
 * Adds an account at a provider, whose bill the service begins to pull.
 * @param change what is unusual about the provider's organization
 */
export async function addAccount(
  { harness, simulator }: WithProviders,
  provider: PulledProvider,
  bill: TrueLine[],
  change: Partial<Organization> = {},
) {
  const team = await makeTeam(harness);
  const { admin } = team.users;
  const secret = `sk-admin-${randomUUID()}`;
  const organization = Object.assign(simulator.add(secret, bill), change);
  const path = `${team.path}/provider-accounts`;
  const account = provider === "github" ? "acme" : "";
  const added = await admin.call("POST", path, { provider, key: secret, account, since: daysAgo(20) });
  expect(added.status, JSON.stringify(added.body)).toBe(201);
  const id = String(added.body.id);
  const read = async () => {
    const { accounts } = (await admin.get(path)).body as unknown as { accounts: ProviderAccount[] };
    return accounts.find((each) => each.id === id);
  };
  const sqlOf = async <T>(text: string, values: unknown[] = []) =>
    (await harness.fixtures.sql.query(text, [team.workspace, ...values])).rows as T[];
  return {
    ...{ ...team, admin, secret, organization, path, id, read, sqlOf },
    /** Waits until no pull runs or is due. */
    ended: async () => {
      await expect.poll(async () => (await read())?.is_pulling, { interval: 200 }).toBe(false);
      return (await read()) as ProviderAccount;
    },
    pull: (body: object = {}) => admin.call("POST", `${path}/${id}/pull`, body),
    bills: async () => ((await admin.get(`${team.path}/bills`)).body as unknown as BillList).bills,
    /** What counts of each day, by its facts. */
    counted: () =>
      sqlOf<{
        day: string;
        model: string;
        unit: string;
        usd: string;
        quantity: string | null;
        tier: string | null;
        list: string | null;
      }>(
        `select s.starts_on::text as day, f.model, f.unit, f.tier, trim_scale(f.amount_usd)::text as usd,
           trim_scale(f.list_usd)::text as list, trim_scale(f.quantity)::text as quantity
         from (select distinct on (starts_on) * from public.bill_statements where workspace_id = $1 order by starts_on, number desc) as s
         join public.billed_facts as f on f.workspace_id = s.workspace_id and f.statement_id = s.id
         order by 1, 2, 3, 4 nulls first`,
      ),
    statements: async () =>
      (
        await sqlOf<{ count: number }>(
          "select count(*)::int from public.bill_statements where workspace_id = $1",
        )
      )[0]?.count,
  };
}

/** The exact sum of amounts. */
export const usdOf = (rows: { usd: string }[]) => toText(sum(rows.map(({ usd }) => parseDecimal(usd))));
