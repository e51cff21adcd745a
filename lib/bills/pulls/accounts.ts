import type { PoolClient } from "pg";
import { requireMembership } from "@/lib/access/workspaces/membership";
import type {
  AccountState,
  AddProviderAccountRequest,
  ProviderAccount,
  ProviderAccountList,
} from "@/lib/contract/bills/provider-accounts";
import { type PulledProvider, pulledProviders } from "@/lib/contract/bills/pulled-providers";
import { ExactNumber } from "@/lib/contract/values/exact-number";
import { dayOf, toInstant } from "@/lib/contract/values/instant";
import { newId } from "@/lib/db/new-id";
import { asServiceWithin, asUser, asUserReading, type UserClaims } from "@/lib/db/transaction";
import { multiply, parseDecimal } from "@/lib/decimal";
import { env } from "@/lib/env";
import { notFound, ServiceError, validationFailed } from "@/lib/errors";
import { toExact } from "@/lib/ledger/pricing/exact";
import { canSeal, seal } from "@/lib/seal";
import { addDays } from "@/lib/spend/period";
import { type AccountRow, addAccount, askForPull, removeAccount, selectAccounts } from "./account-queries";
import { sealSubject } from "./pull";

/** The most accounts of a workspace. */
const maxAccounts = 20;
/** How many past days may be pulled. */
const farthestDays = 366;

/** Lists the provider accounts of a workspace, for admins. @throws ServiceError not_found, permission_denied */
export function listAccounts(claims: UserClaims, slug: string): Promise<ProviderAccountList> {
  return asUserReading(claims, async (client) => {
    const { id } = await requireMembership(client, claims, slug, "admin");
    return { accounts: (await selectAccounts(client, id)).map(toAccount), can_add: canSeal() };
  });
}

/**
 * Adds an account whose costs are pulled from now on, for admins. Its key is sealed for the row, and nobody reads it again.
 * @throws ServiceError not_found, permission_denied; validation_failed by field; conflict where the service cannot seal, the same costs
 *   are pulled already, or there are too many accounts
 */
export function createAccount(
  claims: UserClaims,
  slug: string,
  { provider, account, key, folder, since }: AddProviderAccountRequest,
): Promise<ProviderAccount> {
  return asUser(claims, async (client, now) => {
    const { id: workspaceId } = await requireMembership(client, claims, slug, "admin");
    if (!canSeal())
      throw new ServiceError(
        "conflict",
        "The service has no key to seal yours with. Whoever runs it sets SEALING_KEYS (openssl rand -base64 32).",
      );
    const id = newId();
    const added = { id, provider, account, folder, since: firstDay(since, dayOf(now)) };
    const sealed = seal(key, sealSubject(workspaceId, id));
    const outcome = await asServiceWithin(client, () =>
      addAccount(client, workspaceId, added, sealed, maxAccounts),
    );
    const { label } = pulledProviders[provider];
    if (outcome === "taken")
      throw new ServiceError(
        "conflict",
        `Costs of ${label} are pulled already. Several accounts of a provider need different names in account: remove the one that has none, and add both with a name.`,
      );
    if (outcome === "too_many")
      throw new ServiceError(
        "conflict",
        `A workspace may have ${maxAccounts} provider accounts. Remove one that is not needed any more.`,
        { limit: maxAccounts },
      );
    return loadAccount(client, workspaceId, id);
  });
}

/** The first day to pull; without one, a year ago. @throws ServiceError validation_failed */
function firstDay(since: string | undefined, today: string): string {
  if (since === undefined) return addDays(today, -farthestDays);
  if (since >= today)
    throw validationFailed([{ path: "since", message: "must be before today: today has not ended yet" }]);
  const earliest = addDays(today, -farthestDays);
  if (since < earliest)
    throw validationFailed([{ path: "since", message: `must be ${earliest} or later: at most a year ago` }]);
  return since;
}

/**
 * Removes an account and its key, for admins.
 * @param bills what becomes of what it billed: without it, billed history and differences of these days end, too
 * @throws ServiceError not_found, permission_denied
 */
export function deleteAccount(
  claims: UserClaims,
  slug: string,
  id: string,
  bills: "keep" | "delete",
): Promise<ProviderAccount> {
  return asUser(claims, async (client) => {
    const { id: workspaceId } = await requireMembership(client, claims, slug, "admin");
    const last = await loadAccount(client, workspaceId, id);
    await asServiceWithin(client, () => removeAccount(client, workspaceId, id, bills === "delete"));
    return last;
  });
}

/**
 * Has an account pulled now, for admins. The pull runs in the background.
 * @param acceptJump also stores what is held
 * @throws ServiceError not_found, permission_denied; conflict while a pull runs
 */
export function pullNow(
  claims: UserClaims,
  slug: string,
  id: string,
  acceptJump: boolean,
): Promise<ProviderAccount> {
  return asUser(claims, async (client) => {
    const { id: workspaceId } = await requireMembership(client, claims, slug, "admin");
    await loadAccount(client, workspaceId, id);
    if (!(await asServiceWithin(client, () => askForPull(client, workspaceId, id, acceptJump))))
      throw new ServiceError("conflict", "A pull of this account runs already. Wait until it has ended.");
    return loadAccount(client, workspaceId, id);
  });
}

/** @throws ServiceError not_found */
async function loadAccount(client: PoolClient, workspaceId: string, id: string): Promise<ProviderAccount> {
  const row = (await selectAccounts(client, workspaceId)).find((each) => each.id === id);
  if (!row) throw notFound();
  return toAccount(row);
}

function toAccount(row: AccountRow): ProviderAccount {
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
