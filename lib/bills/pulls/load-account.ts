import type { PoolClient } from "pg";
import { toTelemetry } from "@/lib/bills/telemetry/to-telemetry";
import type { AccountState, ProviderAccount } from "@/lib/contract/bills/provider-accounts";
import type { PulledProvider } from "@/lib/contract/bills/pulled-providers";
import { ExactNumber } from "@/lib/contract/values/exact-number";
import { toInstant } from "@/lib/contract/values/instant";
import { multiply, parseDecimal } from "@/lib/decimal";
import { env } from "@/lib/env";
import { notFound } from "@/lib/errors";
import { toExact } from "@/lib/ledger/pricing/exact";
import { addDays } from "@/lib/spend/period";
import { type AccountRow, selectAccounts } from "./account-queries";

/** Reads an account, under the user's policies. @throws ServiceError not_found */
export async function loadAccount(
  client: PoolClient,
  workspaceId: string,
  id: string,
): Promise<ProviderAccount> {
  const row = (await selectAccounts(client, workspaceId)).find((each) => each.id === id);
  if (!row) throw notFound();
  return toAccount(row);
}

/** An account as it is answered. */
export function toAccount(row: AccountRow): ProviderAccount {
  const { held_day: heldDay, held_usd: heldUsd, usual_usd: usualUsd } = row;
  const held =
    heldDay !== null && heldUsd !== null && usualUsd !== null
      ? { day: heldDay, amount_usd: new ExactNumber(heldUsd), usual_usd: new ExactNumber(usualUsd) }
      : null;
  const { seat_count: count, unused_seat_count: unused, seat_usd: seatUsd } = row;
  const seatPrice = seatUsd === null ? null : parseDecimal(seatUsd);
  const instantOf = (at: Date | null) => (at === null ? null : toInstant(at.getTime()));
  return {
    id: row.id,
    provider: row.provider as PulledProvider,
    account: row.account || null,
    folder: row.folder,
    since: row.since,
    state: stateOf(row),
    problem: row.problem,
    held,
    seats:
      count === null || unused === null
        ? null
        : {
            count,
            unused_count: unused,
            monthly_usd: seatPrice && toExact(seatPrice),
            unused_monthly_usd: seatPrice && toExact(multiply(seatPrice, parseDecimal(unused))),
          },
    telemetry: toTelemetry(row.provider, row),
    is_pulling: row.is_pulling && !env().PROVIDER_URLS.isOff,
    pulled_through: row.pulled_through,
    stored_through: row.next_day && addDays(row.next_day, -1),
    last_pull_at: instantOf(row.last_pull_at),
    last_success_at: instantOf(row.last_success_at),
    created_at: toInstant(row.created_at.getTime()),
    created_by: row.created_by_email,
  };
}

function stateOf(row: AccountRow): AccountState {
  if (row.last_pull_at === null) return "never_ran";
  if (row.is_refused) return "refused";
  if (row.problem !== null || row.is_late) return "behind";
  if (row.held_day !== null) return "held";
  return row.has_data ? "healthy" : "no_data";
}
