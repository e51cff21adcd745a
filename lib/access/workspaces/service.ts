import type { PoolClient } from "pg";
import type { z } from "zod";
import { restoreAccount } from "@/lib/access/account/service";
import { loadMembers } from "@/lib/access/members/service";
import { accountQuota, addressQuota, hourMs, throttle } from "@/lib/access/throttle";
import type { CurrentUser, Membership, UpdateMeRequest } from "@/lib/contract/access/me";
import type {
  CreateWorkspaceRequest,
  organization,
  UpdateWorkspaceRequest,
} from "@/lib/contract/access/workspaces";
import { isCurrency } from "@/lib/currencies";
import { provedSecondFactor } from "@/lib/db/second-factor";
import { asUser, asUserReading, sqlState, type UserClaims, violatedConstraint } from "@/lib/db/transaction";
import { ServiceError, validationFailed } from "@/lib/errors";
import { readDeleted, readLocked, requireMembership, requireProfile } from "./membership";
import { runTimeZoneChanges } from "./time-zone";
import {
  insertTimeZoneChange,
  insertWorkspace,
  selectCounts,
  selectMemberships,
  updateProfile,
  updateWorkspaceRow,
} from "./workspace-queries";

/**
 * Reads the signed-in user and their workspaces. If the user deleted their account before this sign-in, the
 * deletion is undone.
 * @throws ServiceError account_deleted for sessions that began before the deletion, invalid_credentials if the account was erased
 */
export async function readCurrentUser(claims: UserClaims): Promise<CurrentUser> {
  const read = () => asUserReading(claims, (client) => loadCurrentUser(client, claims));
  return read().catch(async (error: unknown) => {
    const isDeleted = error instanceof ServiceError && error.code === "account_deleted";
    if (isDeleted && (await restoreAccount(claims))) return read();
    throw error;
  });
}

/**
 * Changes the signed-in user's own profile.
 * @throws ServiceError invalid_credentials; validation_failed for a default workspace they do not belong to
 */
export async function updateCurrentUser(claims: UserClaims, changes: UpdateMeRequest): Promise<CurrentUser> {
  return asUser(claims, async (client) => {
    const chosen = changes.default_workspace_id;
    const { workspaces } = await loadCurrentUser(client, claims);
    if (chosen && !workspaces.some(({ id }) => id === chosen.toLowerCase()))
      throw validationFailed([{ path: "default_workspace_id", message: "must be one of your workspaces" }]);
    await updateProfile(client, claims.sub, changes);
    return loadCurrentUser(client, claims);
  });
}

async function loadCurrentUser(client: PoolClient, claims: UserClaims): Promise<CurrentUser> {
  const profile = await requireProfile(client, claims);
  // The profile has the account's present address; the token has the one of its last refresh.
  const user = { id: profile.id, email: profile.email };
  const workspaces = await selectMemberships(client, claims.sub);
  const locked = await readLocked(client, claims);
  const deleted = await readDeleted(client);
  return {
    user,
    profile,
    workspaces,
    locked_workspaces: locked,
    deleted_workspaces: deleted.map(({ id: _, require_mfa: __, ...shown }) => shown),
  };
}

/**
 * Reads a workspace by its slug, with the user's role in it.
 * @throws ServiceError not_found if it does not exist or the user is not a member
 */
export async function readMembership(claims: UserClaims, slug: string): Promise<Membership> {
  return asUserReading(claims, (client) => requireMembership(client, claims, slug));
}

/**
 * Creates a team workspace and makes its creator the owner.
 * @throws ServiceError validation_failed, slug_taken, conflict when the user owns the maximum, rate_limited
 */
export async function createWorkspace(
  claims: UserClaims,
  request: CreateWorkspaceRequest,
): Promise<Membership> {
  const { name, description, base_currency: baseCurrency, time_zone: timeZone } = request;
  const slug = request.slug ?? slugOf(name);
  if (slug === "")
    throw validationFailed([
      { path: "slug", message: "is required, because none can be derived from this name" },
    ]);
  requireCurrency(baseCurrency);
  await throttle("new workspaces", [
    ...accountQuota(claims.sub, 30, hourMs),
    ...addressQuota(claims.caller_address, 120, hourMs),
  ]);
  const made = asUser(claims, async (client) => {
    await requireProfile(client, claims);
    await insertWorkspace(client, { slug, name, description, baseCurrency, timeZone });
    return requireMembership(client, claims, slug);
  });
  return made.catch((error: unknown) => {
    throw explainRefusal(error, slug);
  });
}

/** Explains why a workspace could not be created, if the user can change the cause. */
function explainRefusal(error: unknown, slug: string): unknown {
  if (sqlState(error) === "22023") return unknownZone();
  if (sqlState(error) === "23505")
    return new ServiceError("slug_taken", `The slug ${slug} is taken. Choose another.`);
  const constraint = violatedConstraint(error);
  if (["workspaces_slug_not_reserved", "workspaces_slug_demo_is_the_demo"].includes(constraint)) {
    const message = `${slug} is reserved for the service's own pages; choose another`;
    return validationFailed([{ path: "slug", message }]);
  }
  if (constraint !== "workspaces_owned_at_most") return error;
  return new ServiceError(
    "conflict",
    "You own as many workspaces as one person may. Transfer the ownership of one first.",
  );
}

/**
 * Changes a workspace's settings, including whether it requires a second factor. For admins.
 * @throws ServiceError not_found, permission_denied, validation_failed; mfa_required for requiring a second factor in a
 *   session that lacks one, because it would lock its own user out; conflict for a time zone while a change of it is in progress
 *   or a month is closed
 */
export async function updateWorkspace(
  claims: UserClaims,
  slug: string,
  changes: UpdateWorkspaceRequest,
): Promise<Membership> {
  if (changes.base_currency !== undefined) requireCurrency(changes.base_currency);
  const changed = await asUser(claims, async (client) => {
    const membership = await requireMembership(client, claims, slug, "admin");
    const { id, require_mfa: isRequired } = membership;
    if (changes.require_mfa && !isRequired && !provedSecondFactor(claims)) {
      const remedy =
        "Set up two-factor authentication for your own account first, and sign in with your code. Otherwise you would lock yourself out.";
      throw new ServiceError("mfa_required", remedy);
    }
    // Locks in the same order as closing a month.
    await changeTimeZone(client, membership, changes.time_zone);
    await updateWorkspaceRow(client, id, changes);
    return requireMembership(client, claims, slug);
  });
  if (changed.next_time_zone === null) return changed;
  // The days of a small workspace are complete after these steps.
  await runTimeZoneChanges(stepsAtOnce);
  return readMembership(claims, slug);
}

/** The SQLSTATE of the refusal because a month is closed. */
const monthIsClosed = "55000";

/** The steps of a change of time zone that run before its response. */
const stepsAtOnce = 3;

/** Requests a change of the time zone. @param timeZone undefined for no change */
async function changeTimeZone(
  client: PoolClient,
  { id, time_zone: present, next_time_zone: next }: Membership,
  timeZone: string | undefined,
): Promise<void> {
  if (timeZone === undefined || timeZone === (next ?? present)) return;
  if (next !== null)
    throw new ServiceError(
      "conflict",
      `The days are being summed anew for ${next}. Choose another time zone when that is done.`,
    );
  await insertTimeZoneChange(client, id, timeZone).catch((error: unknown) => {
    if (sqlState(error) === "22023") throw unknownZone();
    if (sqlState(error) !== monthIsClosed) throw error;
    throw new ServiceError(
      "conflict",
      `Closed months are months of ${present}. Reopen them in Settings → Books, change the time zone, and close them again.`,
    );
  });
}

/** The refusal of a time zone that Postgres does not know. */
const unknownZone = () =>
  validationFailed([
    { path: "time_zone", message: "must be the name of a time zone, like Europe/Berlin or UTC" },
  ]);

/** Reads a workspace with its members and counts, for its members. @throws ServiceError not_found */
export async function readOrganization(
  claims: UserClaims,
  slug: string,
): Promise<z.output<typeof organization>> {
  return asUserReading(claims, async (client) => {
    const workspace = await requireMembership(client, claims, slug);
    const members = await loadMembers(client, workspace.id);
    const counts = await selectCounts(client, workspace.id);
    return { workspace, members, counts: { members: members.length, ...counts } };
  });
}

function requireCurrency(code: string): void {
  if (isCurrency(code)) return;
  throw validationFailed([
    { path: "base_currency", message: "must be a currency code of ISO 4217, like USD or EUR" },
  ]);
}

/** Derives a slug from a name: "Café Zürich & Co" becomes `cafe-zurich-co`. Empty if no character remains. */
export function slugOf(name: string): string {
  return name
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+/, "")
    .slice(0, 63)
    .replace(/-+$/, "");
}
