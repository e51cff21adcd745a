import type { ClientBase } from "pg";
import { type Row, text, timestamp, uuid } from "@/lib/db/columns";
import { callFunction, execute, selectAll } from "@/lib/db/query";
import { empty, sql } from "@/lib/db/sql";

const linkRow = { id: uuid(), slack_name: text(), channel_name: text(), created_at: timestamp() };

/** A Slack user of the caller, and the channel for which they are linked. */
export type SlackLinkRow = Row<typeof linkRow>;

/** The Slack users of a member in a workspace. @param id only this one */
export function selectLinks(
  client: ClientBase,
  workspaceId: string,
  userId: string,
  id?: string,
): Promise<SlackLinkRow[]> {
  return selectAll(
    client,
    linkRow,
    sql`select l.id, l.slack_name, c.name as channel_name, l.created_at
      from public.slack_links as l
      join public.alert_channels as c on c.workspace_id = l.workspace_id and c.id = l.channel_id
      where l.workspace_id = ${workspaceId} and l.user_id = ${userId} ${id === undefined ? empty : sql`and l.id = ${id}`}
      order by l.created_at, l.id`,
  );
}

/** Unlinks one of a member's Slack users. */
export async function deleteLink(
  client: ClientBase,
  workspaceId: string,
  userId: string,
  id: string,
): Promise<void> {
  await execute(
    client,
    sql`delete from public.slack_links where workspace_id = ${workspaceId} and user_id = ${userId} and id = ${id}`,
  );
}

// The rest runs as the service.

/** Sets or removes (null) the sealed signing secret of a Slack channel, as an admin, and unlinks its Slack users. @returns whether it is one of Slack */
export function setSlackSecret(
  client: ClientBase,
  workspaceId: string,
  channelId: string,
  sealed: string | null,
): Promise<boolean> {
  return callFunction(client, "private.set_slack_secret", workspaceId, channelId, sealed);
}

/** Who clicked, and the workspace. `member` is null if the Slack user is linked to nobody; a link was offered then. */
export type TakenClick = {
  slug: string;
  member: { id: string; email: string; aal: "aal1" | "aal2" } | null;
};

/** Takes a verified click once. @returns null if it was taken before */
export function takeClick(
  client: ClientBase,
  workspaceId: string,
  channelId: string,
  click: { sealed: string; signature: string; team: string; user: string; name: string; hash: string },
): Promise<TakenClick | null> {
  return callFunction(client, "private.take_slack_click", workspaceId, channelId, JSON.stringify(click));
}

/** What a link offers to the transaction's user. */
export type SlackOffer = {
  slug: string;
  workspace: string;
  channel: string;
  slack_name: string;
  may_decide: boolean;
};

/** Reads an offer. @param hash of the link's token. @returns null for an unknown or expired one, or one of another workspace */
export function selectOffer(client: ClientBase, hash: string): Promise<SlackOffer | null> {
  return callFunction(client, "private.slack_offer", hash);
}

/** Links the Slack user of an offer to the transaction's user. */
export function insertLink(
  client: ClientBase,
  hash: string,
): Promise<{ workspace_id: string; id: string } | { refused: "not_found" | "forbidden" }> {
  return callFunction(client, "private.link_slack_user", hash);
}
