import type { PoolClient } from "pg";
import type { z } from "zod";
import { hashSecret } from "@/lib/access/secrets/secret";
import { requireMembership } from "@/lib/access/workspaces/membership";
import type { SlackLink, slackLinkList } from "@/lib/contract/alerts/slack-links";
import { toInstant } from "@/lib/contract/values/instant";
import { asServiceWithin, asUser, asUserReading, type UserClaims } from "@/lib/db/transaction";
import { notFound, ServiceError } from "@/lib/errors";
import {
  deleteLink,
  insertLink,
  type SlackLinkRow,
  type SlackOffer,
  selectLinks,
  selectOffer,
} from "./slack-queries";

/** What the link of a message in Slack offers to its reader; null if it is unknown, used or expired, or of another workspace. */
export function readOffer(claims: UserClaims, token: string): Promise<SlackOffer | null> {
  return asUser(claims, (client) => asServiceWithin(client, () => selectOffer(client, hashSecret(token))));
}

/**
 * Links the Slack user who clicked to the caller, so that later clicks decide as the caller. For members who may decide about
 * requests: owners and admins of the workspace, owners of a budget, and who made a key with a limit.
 * @throws ServiceError not_found, permission_denied
 */
export function linkSlackUser(claims: UserClaims, token: string): Promise<SlackLink> {
  return asUser(claims, async (client) => {
    const made = await asServiceWithin(client, () => insertLink(client, hashSecret(token)));
    if (!("refused" in made)) return loadLink(client, made.workspace_id, claims.sub, made.id);
    if (made.refused === "not_found") throw notFound();
    throw new ServiceError(
      "permission_denied",
      "Owners and admins of the workspace decide about requests, the owner of a budget about its own, and who made a key about its limit. You are none of them.",
    );
  });
}

/** Lists the caller's own Slack users in a workspace. @throws ServiceError not_found */
export function listLinks(claims: UserClaims, slug: string): Promise<z.output<typeof slackLinkList>> {
  return asUserReading(claims, async (client) => {
    const { id } = await requireMembership(client, claims, slug);
    return { links: (await selectLinks(client, id, claims.sub)).map(toLink) };
  });
}

/** Unlinks one of the caller's own Slack users. @returns the former link. @throws ServiceError not_found */
export function unlinkSlackUser(claims: UserClaims, slug: string, id: string): Promise<SlackLink> {
  return asUser(claims, async (client) => {
    const { id: workspaceId } = await requireMembership(client, claims, slug);
    const last = await loadLink(client, workspaceId, claims.sub, id);
    await deleteLink(client, workspaceId, claims.sub, id);
    return last;
  });
}

async function loadLink(
  client: PoolClient,
  workspaceId: string,
  userId: string,
  id: string,
): Promise<SlackLink> {
  const [row] = await selectLinks(client, workspaceId, userId, id);
  if (!row) throw notFound();
  return toLink(row);
}

function toLink({ created_at: at, ...row }: SlackLinkRow): SlackLink {
  return { ...row, created_at: toInstant(at.getTime()) };
}
