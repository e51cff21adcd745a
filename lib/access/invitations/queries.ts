import type { ClientBase } from "pg";
import type { InvitationOffer } from "@/lib/contract/invitations";

/** An open invitation as stored, with who made it. */
export type InvitationRow = {
  id: string;
  role: InvitationOffer["role"];
  email: string | null;
  inviter_id: string;
  inviter_name: string | null;
  inviter_email: string;
  created_at: Date;
  expires_at: Date;
  expired: boolean;
};

/** What `private.read_invitation` and `private.accept_invitation` answer; `expires_at` in milliseconds. */
export type OfferRow = {
  workspace_id: string;
  slug: string;
  name: string;
  role: InvitationOffer["role"];
  email: string | null;
  invited_by: string;
  expires_at: number;
  is_member: boolean;
  is_for_caller: boolean;
};

/** A workspace's invitations that nobody has accepted, the newest first. @param id of one alone */
export async function selectInvitations(
  client: ClientBase,
  workspaceId: string,
  id: string | null = null,
): Promise<InvitationRow[]> {
  const { rows } = await client.query<InvitationRow>(
    `select i.id, i.role, i.email, i.invited_by as inviter_id, p.display_name as inviter_name, p.email as inviter_email,
       i.created_at, i.expires_at, i.expires_at <= now() as expired
     from public.invitations as i
     join public.profiles as p on p.id = i.invited_by
     where i.workspace_id = $1 and i.accepted_at is null and ($2::uuid is null or i.id = $2)
     order by i.created_at desc, i.id`,
    [workspaceId, id],
  );
  return rows;
}

/** Invites in the name of the transaction's user. @returns its id */
export async function insertInvitation(
  client: ClientBase,
  invitation: { workspaceId: string; role: string; email: string | null; days: number },
): Promise<string> {
  const { workspaceId, role, email, days } = invitation;
  const { rows } = await client.query<{ id: string }>(
    `insert into public.invitations (workspace_id, role, email, expires_at)
     values ($1, $2, $3, now() + $4 * interval '1 day') returning id`,
    [workspaceId, role, email, days],
  );
  const [row] = rows;
  if (!row) throw new Error("An invitation that was made was not returned.");
  return row.id;
}

/** Keeps the hash of a new invitation's token. As the service. */
export async function keepInvitationSecret(client: ClientBase, id: string, hash: string): Promise<void> {
  await client.query("select private.keep_invitation_secret($1, $2)", [id, hash]);
}

/** @returns whether there was one that the user may revoke */
export async function deleteInvitation(
  client: ClientBase,
  workspaceId: string,
  id: string,
): Promise<boolean> {
  const { rowCount } = await client.query(
    "delete from public.invitations where workspace_id = $1 and id = $2 and accepted_at is null",
    [workspaceId, id],
  );
  return rowCount === 1;
}

/** What a token offers to the transaction's user. As the service. */
export async function readOffer(client: ClientBase, hash: string): Promise<OfferRow | null> {
  const { rows } = await client.query("select private.read_invitation($1) as offer", [hash]);
  return rows[0].offer;
}

/** Makes the transaction's user a member, where the offer is theirs to take. As the service. */
export async function acceptOffer(client: ClientBase, hash: string): Promise<OfferRow | null> {
  const { rows } = await client.query("select private.accept_invitation($1) as offer", [hash]);
  return rows[0].offer;
}
