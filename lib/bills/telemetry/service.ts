import type { PoolClient } from "pg";
import { requireMembership } from "@/lib/access/workspaces/membership";
import { readSealedAccount, type SealedAccount } from "@/lib/bills/pulls/account-queries";
import { askNow } from "@/lib/bills/pulls/ask-now";
import { loadAccount } from "@/lib/bills/pulls/load-account";
import { ProviderFailure, ProviderRefusal } from "@/lib/bills/pulls/provider";
import { createApiKeyRequest } from "@/lib/contract/access/api-keys";
import type { ProviderAccount } from "@/lib/contract/bills/provider-accounts";
import {
  type DestinationEnd,
  type RegisterTelemetryRequest,
  sendsTelemetry,
  type TelemetryProvider,
  telemetryProviders,
} from "@/lib/contract/bills/provider-telemetry";
import { type PulledProvider, pulledProviders } from "@/lib/contract/bills/pulled-providers";
import { newId } from "@/lib/db/new-id";
import { asServiceWithin, asUser, type UserClaims } from "@/lib/db/transaction";
import { notFound, ServiceError } from "@/lib/errors";
import { makeKey, throttleSecrets } from "@/lib/keys/management/service";
import { reportFailure } from "@/lib/log";
import { SealError } from "@/lib/seal";
import { receivingAddress } from "./receiving-address";
import type { Destination, Registrar, Standing } from "./registrar";
import { registrars } from "./registrars";
import {
  beginTelemetry,
  endTelemetry,
  type NotedTelemetry,
  noteTelemetry,
  selectTelemetry,
} from "./telemetry-queries";

/** An account with its sealed key, of a provider that sends telemetry. */
type TelemetryAccount = SealedAccount & { provider: TelemetryProvider };

/** Names a destination at the provider, so that one that an interrupted attempt left is found again. */
const nameOf = ({ id }: Pick<TelemetryAccount, "id">) => `Outlay (${id})`;

/**
 * Has a provider send its calls here, for admins: makes a source with a key of its own, and registers its address and key at the provider,
 * which sends a test where it can. How that ended is in `telemetry` of the answer; a key of which the provider does not know is revoked.
 * @throws ServiceError not_found, permission_denied, rate_limited; conflict where the provider sends none, is registered already, or
 *   cannot reach the service
 */
export async function registerTelemetry(
  claims: UserClaims,
  slug: string,
  accountId: string,
  { project }: RegisterTelemetryRequest,
): Promise<ProviderAccount> {
  await throttleSecrets(claims);
  const begun = await asUser(claims, async (client, now) => {
    const membership = await requireMembership(client, claims, slug, "admin");
    const { provider } = await loadAccount(client, membership.id, accountId);
    if (!sendsTelemetry(provider))
      throw new ServiceError(
        "conflict",
        `${pulledProviders[provider].label} sends no telemetry to an address. Add a source instead.`,
      );
    const account = await findSealed(client, membership.id, accountId, provider);
    const address = receivingAddress(account.provider);
    if ("problem" in address) throw new ServiceError("conflict", address.problem);
    const key = await makeKey(client, { membership, now }, keyOf(account, project));
    const id = newId();
    const given = { id, account_id: accountId, key_id: key.id };
    const outcome = await asServiceWithin(client, () => beginTelemetry(client, membership.id, given));
    if (outcome === "no_account") throw notFound();
    if (outcome === "taken")
      throw new ServiceError(
        "conflict",
        `${labelOf(account)} is registered already. Remove the registration before you register it again.`,
      );
    return { account, id, base: address.base, secret: key.secret };
  });
  const { account, id, base, secret } = begun;
  const registrar: Registrar = registrars[account.provider];
  const registration = { name: nameOf(account), base, authorization: `Bearer ${secret}` };
  const at = { workspace_id: account.workspace_id, id };
  let destinations: Destination[];
  try {
    destinations = await askNow(account, (ask) => registrar.register(ask, registration));
  } catch (error) {
    const state = error instanceof ProviderRefusal ? "refused" : "failed";
    return note(claims, slug, accountId, { ...at, state, problem: wordsOf(error, secret) });
  }
  const registered = { ...at, state: "registered" as const, problem: null, destinations };
  const known = await note(claims, slug, accountId, registered);
  return registrar.test ? sendTest(claims, slug, account, registered) : known;
}

/** The key of a source: it can only log usage, and records what has been spent already. */
const keyOf = (account: TelemetryAccount, project: string | undefined) => {
  const { program, source } = telemetryProviders[account.provider];
  return createApiKeyRequest.parse({
    name: [source, account.account].filter(Boolean).join(" ").slice(0, 120),
    permissions: ["log_usage"],
    conditions: { sources: ["api"] },
    on_limit: "record",
    source: { program, ...(project !== undefined && { default_project: project }) },
  });
};

/** Has a test sent, and records how that ended. */
async function sendTest(
  claims: UserClaims,
  slug: string,
  account: TelemetryAccount,
  registered: NotedTelemetry & { destinations: Destination[] },
): Promise<ProviderAccount> {
  const registrar: Registrar = registrars[account.provider];
  const outcome = await askNow(account, async (ask) => registrar.test?.(ask, registered.destinations)).then(
    (why) =>
      why === undefined
        ? { tested: true }
        : { state: "failing" as const, problem: `Its test did not arrive: ${why}` },
    (error: unknown) => ({ problem: `Its test could not be sent. ${wordsOf(error)}` }),
  );
  return note(claims, slug, account.id, { ...registered, ...outcome });
}

/**
 * Reads how a registration is at the provider, for admins, and has a test sent where the provider can. If the provider does not answer,
 * `problem` of the answer has why.
 * @throws ServiceError not_found, permission_denied; conflict where nothing is registered
 */
export async function checkTelemetry(
  claims: UserClaims,
  slug: string,
  accountId: string,
): Promise<ProviderAccount> {
  const { account, registered } = await findRegistered(claims, slug, accountId);
  if (!registered || !isThere(registered.state))
    throw new ServiceError("conflict", `${labelOf(account)} is not registered. Register it first.`);
  const registrar: Registrar = registrars[account.provider];
  const { id, state, destinations } = registered;
  const known = { workspace_id: account.workspace_id, id, destinations };
  let standing: Standing;
  try {
    standing = await askNow(account, (ask) => registrar.read(ask, destinations));
  } catch (error) {
    return note(claims, slug, accountId, { ...known, state, problem: `It was not read. ${wordsOf(error)}` });
  }
  const canTest = registrar.test && (standing.state === "registered" || standing.state === "failing");
  return canTest
    ? sendTest(claims, slug, account, { ...known, state: "registered", problem: null })
    : note(claims, slug, accountId, { ...known, ...standing });
}

/**
 * Ends a registration, for admins: removes the destination at the provider, then revokes the key.
 * @param destination `leave`: the provider is not asked, for a key that it no longer takes
 * @throws ServiceError not_found, permission_denied; conflict with the provider's words where it does not remove the destination
 */
export async function endRegistration(
  claims: UserClaims,
  slug: string,
  accountId: string,
  destination: DestinationEnd,
): Promise<ProviderAccount> {
  await removeDestination(claims, slug, accountId, destination);
  return asUser(claims, async (client) => {
    const { id } = await requireMembership(client, claims, slug, "admin");
    await asServiceWithin(client, () => endTelemetry(client, id, accountId));
    return loadAccount(client, id, accountId);
  });
}

/**
 * Removes the destination of an account at its provider, if there may be one. For admins.
 * @throws ServiceError as of `endRegistration`
 */
export async function removeDestination(
  claims: UserClaims,
  slug: string,
  accountId: string,
  destination: DestinationEnd,
): Promise<void> {
  if (destination === "leave") return;
  const found = await findRegistered(claims, slug, accountId);
  if (!found.registered || found.registered.state === "refused") return;
  const { account, registered } = found;
  const registrar: Registrar = registrars[account.provider];
  await orConflict(account, () =>
    askNow(account, (ask) => registrar.remove(ask, registered.destinations, nameOf(account))),
  );
}

/** Records what is known, in the user's name. @throws ServiceError not_found where the registration has ended meanwhile */
function note(
  claims: UserClaims,
  slug: string,
  accountId: string,
  { workspace_id, id, state, problem, destinations, tested }: NotedTelemetry,
): Promise<ProviderAccount> {
  return asUser(claims, async (client) => {
    const membership = await requireMembership(client, claims, slug, "admin");
    const noted = {
      ...{ workspace_id, id, state, problem },
      ...(destinations && { destinations }),
      ...(tested && { tested }),
    };
    if (!(await asServiceWithin(client, () => noteTelemetry(client, noted)))) throw notFound();
    return loadAccount(client, membership.id, accountId);
  });
}

/** @throws ServiceError conflict where the account has no key */
async function findSealed(
  client: PoolClient,
  workspaceId: string,
  accountId: string,
  provider: TelemetryProvider,
): Promise<TelemetryAccount> {
  const found = await asServiceWithin(client, () => readSealedAccount(client, workspaceId, accountId));
  if (!found) throw new ServiceError("conflict", "The account has no key. Remove it, and add it again.");
  return { ...found, provider };
}

/** Whether the provider has taken a registration. */
const isThere = (state: string): state is Standing["state"] =>
  !["registering", "refused", "failed"].includes(state);

/** An account, and what is registered of it or may be. */
function findRegistered(claims: UserClaims, slug: string, accountId: string) {
  return asUser(claims, async (client) => {
    const { id: workspaceId } = await requireMembership(client, claims, slug, "admin");
    const stored = await selectTelemetry(client, workspaceId, accountId);
    const { provider } = await loadAccount(client, workspaceId, accountId);
    if (!sendsTelemetry(provider) || !stored) return { account: { provider }, registered: undefined };
    return { account: await findSealed(client, workspaceId, accountId, provider), registered: stored };
  });
}

const labelOf = ({ provider }: { provider: PulledProvider }) => pulledProviders[provider].label;

/** Why a provider could not be asked, without the secret, which its answer may repeat. */
function wordsOf(error: unknown, secret = ""): string {
  const isKnown =
    error instanceof ProviderRefusal || error instanceof ProviderFailure || error instanceof SealError;
  if (!isKnown) reportFailure(error, "A provider could not be asked to send its telemetry.");
  const words = isKnown ? error.message : "The service could not ask it. Try again.";
  return secret === "" ? words : words.replaceAll(secret, "…");
}

/** @throws ServiceError conflict with the provider's words */
async function orConflict<T>(account: TelemetryAccount, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    throw new ServiceError("conflict", `${labelOf(account)} did not do it. ${wordsOf(error)}`);
  }
}
