import { randomBytes } from "node:crypto";
import type { PoolClient } from "pg";
import type { z } from "zod";
import { restoreDeleted, storeDeleted } from "@/lib/access/restore-deleted";
import { hourMs, throttle } from "@/lib/access/throttle";
import { requireMembership } from "@/lib/access/workspaces/membership";
import { deliver, leaseSeconds } from "@/lib/alerts/delivery/pump";
import { readLoggedDelivery } from "@/lib/alerts/log/service";
import { canSendMail } from "@/lib/alerts/mail/send-mail";
import { storeSlackSecret } from "@/lib/alerts/slack/secret";
import {
  type AlertChannel,
  type CreateChannelRequest,
  type CreatedChannel,
  type channelList,
  type EditChannelRequest,
  maxChannels,
  type rotatedSecret,
} from "@/lib/contract/alerts/alert-channels";
import type { AlertDelivery } from "@/lib/contract/alerts/alerts";
import { weekdays } from "@/lib/contract/spend/budgets";
import { toInstant } from "@/lib/contract/values/instant";
import { asServiceWithin, asUser, asUserReading, sqlState, type UserClaims } from "@/lib/db/transaction";
import { notFound, ServiceError, validationFailed } from "@/lib/errors";
import { serviceAddress } from "@/lib/service-address";
import {
  addChannel,
  beginTest,
  type ChannelRow,
  changeChannel,
  removeChannel,
  rotateSecret,
  selectChannels,
  selectMemberAddresses,
  setDigest,
} from "./channel-queries";
import { addressesOf, readChannelTarget, type Target } from "./target";

/** How long requests are signed with the former secret, too, after a rotation. */
const overlapSeconds = 24 * 3600;

/** The most tests of a workspace's channels in an hour. */
const maxTestsAnHour = 30;

/** Lists a workspace's channels, for its members. @throws ServiceError not_found */
export function listChannels(claims: UserClaims, slug: string): Promise<z.output<typeof channelList>> {
  return asUserReading(claims, async (client) => {
    const { id, role } = await requireMembership(client, claims, slug);
    const rows = await selectChannels(client, id);
    return {
      channels: rows.map(toChannel),
      can_edit: ["owner", "admin"].includes(role),
      can_mail: canSendMail(),
    };
  });
}

/** Reads one channel, for members. @throws ServiceError not_found */
export function readChannel(claims: UserClaims, slug: string, id: string): Promise<AlertChannel> {
  return asUserReading(claims, async (client) => {
    const { id: workspaceId } = await requireMembership(client, claims, slug);
    return loadChannel(client, workspaceId, id);
  });
}

/**
 * Adds a channel, for admins. The signing secret of a webhook is in this response only.
 * @throws ServiceError not_found, permission_denied, validation_failed by field, conflict if there are too many
 */
export function createChannel(
  claims: UserClaims,
  slug: string,
  request: CreateChannelRequest,
): Promise<CreatedChannel> {
  return asUser(claims, async (client) => {
    const { id: workspaceId } = await requireMembership(client, claims, slug, "admin");
    const { kind, name, rules, least_percent } = request;
    const target = readChannelTarget(kind, request);
    if (!target) throw new Error("The new channel has no target.");
    if (kind === "email") await checkRecipients(client, workspaceId, target);
    const secret = kind === "webhook" ? newSecret() : null;
    const channel = { name, kind, target: target.target, rules, least_percent };
    const secrets = { address: target.address, signing_secret: secret };
    const id = await asServiceWithin(client, () =>
      addChannel(client, workspaceId, channel, secrets, maxChannels),
    );
    if (id === null) {
      throw new ServiceError("conflict", tooMany, { limit: maxChannels });
    }
    if (request.kind === "slack" && request.signing_secret !== undefined) {
      const { signing_secret: slackSecret } = request;
      await asServiceWithin(client, () => storeSlackSecret(client, workspaceId, id, slackSecret));
    }
    if (request.digest) await applyDigest(client, workspaceId, id, request.digest);
    return { ...(await loadChannel(client, workspaceId, id)), signing_secret: secret };
  });
}

/**
 * Changes the given fields of a channel, for admins; `enabled` turns it on and off.
 * @throws ServiceError not_found, permission_denied, validation_failed by field
 */
export function editChannel(
  claims: UserClaims,
  slug: string,
  id: string,
  request: EditChannelRequest,
): Promise<AlertChannel> {
  return asUser(claims, async (client) => {
    const { id: workspaceId } = await requireMembership(client, claims, slug, "admin");
    const { kind } = await loadChannel(client, workspaceId, id);
    const target = readChannelTarget(kind, request);
    if (kind === "email" && target) await checkRecipients(client, workspaceId, target);
    const { name, rules, least_percent, enabled, signing_secret: slackSecret } = request;
    if (slackSecret !== undefined && kind !== "slack") {
      const message = `cannot be set on a channel of the kind ${kind}, only of the kind slack`;
      throw validationFailed([{ path: "signing_secret", message }]);
    }
    const changes = {
      ...(name !== undefined && { name }),
      ...(rules !== undefined && { rules }),
      ...(least_percent !== undefined && { least_percent }),
      ...(target && { target: target.target }),
      ...(target?.address && { address: target.address }),
      ...(enabled !== undefined && { is_disabled: !enabled }),
    };
    await asServiceWithin(client, async () => {
      await changeChannel(client, workspaceId, id, changes);
      if (slackSecret !== undefined) await storeSlackSecret(client, workspaceId, id, slackSecret);
    });
    if (request.digest !== undefined) await applyDigest(client, workspaceId, id, request.digest);
    return loadChannel(client, workspaceId, id);
  });
}

/** Deletes a channel, for admins. @returns the deleted channel. @throws ServiceError not_found, permission_denied */
export function deleteChannel(claims: UserClaims, slug: string, id: string): Promise<AlertChannel> {
  return asUser(claims, async (client) => {
    const { id: workspaceId } = await requireMembership(client, claims, slug, "admin");
    const last = await loadChannel(client, workspaceId, id);
    await storeDeleted(client, "alert_channel", workspaceId, id);
    await asServiceWithin(client, () => removeChannel(client, workspaceId, id));
    return last;
  });
}

const tooMany = `A workspace may have ${maxChannels} alert channels. Delete one that is not needed any more.`;

/**
 * Restores a channel that was deleted in the last ten minutes, for admins, with its address, its secrets and its pending
 * deliveries.
 * @throws ServiceError not_found, permission_denied, conflict if there are too many by now
 */
export function restoreChannel(claims: UserClaims, slug: string, id: string): Promise<AlertChannel> {
  const limit = { atMost: maxChannels, message: tooMany };
  const asked = { kind: "alert_channel", role: "admin", limit } as const;
  return restoreDeleted(claims, slug, id, asked, (client, workspaceId) =>
    loadChannel(client, workspaceId, id),
  );
}

/**
 * Rotates the signing secret of a webhook, for admins. For a day, requests are signed with the former secret, too.
 * @throws ServiceError not_found, permission_denied, conflict if the channel is not a webhook
 */
export function rotateChannelSecret(
  claims: UserClaims,
  slug: string,
  id: string,
): Promise<z.output<typeof rotatedSecret>> {
  return asUser(claims, async (client) => {
    const { id: workspaceId } = await requireMembership(client, claims, slug, "admin");
    const { kind } = await loadChannel(client, workspaceId, id);
    const secret = newSecret();
    const until = await asServiceWithin(client, () =>
      rotateSecret(client, workspaceId, id, secret, overlapSeconds),
    );
    if (until === null) {
      const message = `A channel of the kind ${kind} has no signing secret. To change its target, edit the channel.`;
      throw new ServiceError("conflict", message);
    }
    return { signing_secret: secret, old_secret_until: toInstant(until.getTime()) };
  });
}

/**
 * Sends a test to a channel once, even if it is turned off, and waits for the outcome, for admins.
 * @throws ServiceError not_found, permission_denied, rate_limited
 */
export async function testChannel(claims: UserClaims, slug: string, id: string): Promise<AlertDelivery> {
  const workspaceId = await asUserReading(claims, async (client) => {
    const membership = await requireMembership(client, claims, slug, "admin");
    await loadChannel(client, membership.id, id);
    return membership.id;
  });
  await throttle("tests of alert channels", [
    { subject: `workspace ${workspaceId}`, limit: maxTestsAnHour, windowMs: hourMs },
  ]);
  const taken = await asUser(claims, async (client) => {
    await loadChannel(client, workspaceId, id);
    return asServiceWithin(client, () => beginTest(client, workspaceId, id, leaseSeconds));
  });
  if (taken === null) throw notFound();
  await deliver(taken);
  return readLoggedDelivery(claims, slug, taken.id);
}

/** Sets when a channel sends. @throws ServiceError validation_failed for a time zone that Postgres does not know */
async function applyDigest(
  client: PoolClient,
  workspaceId: string,
  id: string,
  digest: CreateChannelRequest["digest"],
): Promise<void> {
  const columns = digest
    ? {
        cadence: digest.every === "day" ? ("daily" as const) : ("weekly" as const),
        digest_time: digest.at,
        time_zone: digest.time_zone,
        ...(digest.every === "week" && { digest_weekday: weekdays.indexOf(digest.weekday) + 1 }),
      }
    : { cadence: "immediate" as const };
  try {
    await asServiceWithin(client, () => setDigest(client, workspaceId, id, columns));
  } catch (error) {
    if (sqlState(error) !== "22023") throw error;
    const message = "must be the name of a time zone, like Europe/Berlin or UTC";
    throw validationFailed([{ path: "digest.time_zone", message }]);
  }
}

/** Refuses recipients who are not members, so that the service cannot be used to send mail to strangers. */
async function checkRecipients(client: PoolClient, workspaceId: string, target: Target): Promise<void> {
  if (!canSendMail()) {
    const message = "needs a mail server: the operator of this service sets SMTP_URL";
    throw validationFailed([{ path: "addresses", message }]);
  }
  const addresses = addressesOf(target);
  const known = await selectMemberAddresses(client, workspaceId, addresses);
  const nonMembers = addresses.filter((address) => !known.includes(address));
  if (nonMembers.length > 0) {
    const message = `must be addresses of members; not a member: ${nonMembers.join(", ")}. Invite them as viewers first`;
    throw validationFailed([{ path: "addresses", message }]);
  }
}

/** A secret in the form of Standard Webhooks: `whsec_` and 32 random bytes in base64. */
function newSecret(): string {
  return `whsec_${randomBytes(32).toString("base64")}`;
}

async function loadChannel(client: PoolClient, workspaceId: string, id: string): Promise<AlertChannel> {
  const [row] = await selectChannels(client, workspaceId, id);
  if (!row) throw notFound();
  return toChannel(row);
}

function toChannel({
  disabled_at,
  failing_since,
  secret_set_at,
  created_at,
  cadence,
  digest_time: at,
  digest_weekday,
  time_zone,
  next_digest_at: next,
  ...row
}: ChannelRow): AlertChannel {
  const isWeekly = cadence === "weekly";
  return {
    ...row,
    digest:
      cadence === "immediate" || next === null
        ? null
        : {
            every: isWeekly ? "week" : "day",
            weekday: isWeekly ? (weekdays[digest_weekday - 1] ?? "monday") : null,
            at,
            time_zone,
            next_at: toInstant(next.getTime()),
          },
    enabled: disabled_at === null,
    disabled_at: disabled_at && toInstant(disabled_at.getTime()),
    failing_since: failing_since && toInstant(failing_since.getTime()),
    secret_set_at: toInstant(secret_set_at.getTime()),
    interactivity_url: row.kind === "slack" ? `${serviceAddress()}/api/slack/interactions/${row.id}` : null,
    created_at: toInstant(created_at.getTime()),
  };
}
