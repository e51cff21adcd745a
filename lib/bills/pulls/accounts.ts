import { requireMembership } from "@/lib/access/workspaces/membership";
import { removeDestination } from "@/lib/bills/telemetry/service";
import type {
  AddProviderAccountRequest,
  ProviderAccount,
  ProviderAccountList,
} from "@/lib/contract/bills/provider-accounts";
import type { DestinationEnd } from "@/lib/contract/bills/provider-telemetry";
import { pulledProviders } from "@/lib/contract/bills/pulled-providers";
import { dayOf } from "@/lib/contract/values/instant";
import { newId } from "@/lib/db/new-id";
import { asServiceWithin, asUser, asUserReading, type UserClaims } from "@/lib/db/transaction";
import { ServiceError, validationFailed } from "@/lib/errors";
import { canSeal, seal } from "@/lib/seal";
import { addDays } from "@/lib/spend/period";
import { addAccount, askForPull, removeAccount, selectAccounts } from "./account-queries";
import { loadAccount, toAccount } from "./load-account";
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
 * Removes an account and its key, for admins, after its telemetry destination at the provider.
 * @param bills what becomes of what it billed: without it, billed history and differences of these days end, too
 * @param destination what becomes of the telemetry destination
 * @throws ServiceError not_found, permission_denied; conflict where the provider does not remove the destination
 */
export async function deleteAccount(
  claims: UserClaims,
  slug: string,
  id: string,
  { bills, destination }: { bills: "keep" | "delete"; destination: DestinationEnd },
): Promise<ProviderAccount> {
  await removeDestination(claims, slug, id, destination);
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
