import type { ClientBase } from "pg";
import type { InvitationOffer } from "@/lib/contract/access/invitations";
import { boolean, nullable, type Row, text, timestamp, uuid } from "@/lib/db/columns";
import { callFunction, execute, selectAll, selectOne } from "@/lib/db/query";
import { empty, sql } from "@/lib/db/sql";

const invitationRow = {
  id: uuid(),
  role: text<InvitationOffer["role"]>(),
  email: nullable(text()),
  inviter_id: uuid(),
  inviter_name: nullable(text()),
  inviter_email: text(),
  created_at: timestamp(),
  expires_at: timestamp(),
  expired: boolean(),
};

/** An open invitation as stored, with who made it. */
export type InvitationRow = Row<typeof invitationRow>;

/** The result of `private.read_invitation` and `private.accept_invitation`; `expires_at` in milliseconds. */
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

/** A workspace's invitations that nobody has accepted, newest first. @param id only this one */
export function selectInvitations(
  client: ClientBase,
  workspaceId: string,
  id: string | null = null,
): Promise<InvitationRow[]> {
  return selectAll(
    client,
    invitationRow,
    sql`select i.id, i.role, i.email, i.invited_by as inviter_id, p.display_name as inviter_name,
        p.email as inviter_email, i.created_at, i.expires_at, i.expires_at <= now() as expired
      from public.invitations as i
      join public.profiles as p on p.id = i.invited_by
      where i.workspace_id = ${workspaceId} and i.accepted_at is null
        ${id === null ? empty : sql`and i.id = ${id}`}
      order by i.created_at desc, i.id`,
  );
}

/** Inserts an invitation from the transaction's user. @returns its id */
export async function insertInvitation(
  client: ClientBase,
  invitation: { workspaceId: string; role: string; email: string | null; days: number },
): Promise<string> {
  const { workspaceId, role, email, days } = invitation;
  const row = await selectOne(
    client,
    { id: uuid() },
    sql`insert into public.invitations (workspace_id, role, email, expires_at)
      values (${workspaceId}, ${role}, ${email}, now() + ${days} * interval '1 day') returning id`,
  );
  return row.id;
}

/** Stores the SHA-256 (hex) of a new invitation's token. Runs as the service. */
export async function storeInvitationSecret(client: ClientBase, id: string, hash: string): Promise<void> {
  await callFunction(client, "private.keep_invitation_secret", id, hash);
}

/** Deletes an open invitation. @returns whether it existed and the user may revoke it */
export async function deleteInvitation(
  client: ClientBase,
  workspaceId: string,
  id: string,
): Promise<boolean> {
  const deleted = await execute(
    client,
    sql`delete from public.invitations
      where workspace_id = ${workspaceId} and id = ${id} and accepted_at is null`,
  );
  return deleted === 1;
}

/** The invitation whose token has this hash, for the transaction's user; null for an unknown token. Runs as the service. */
export function selectOffer(client: ClientBase, hash: string): Promise<OfferRow | null> {
  return callFunction(client, "private.read_invitation", hash);
}

/** Makes the transaction's user a member, if the invitation is for them. Runs as the service. */
export function acceptOffer(client: ClientBase, hash: string): Promise<OfferRow | null> {
  return callFunction(client, "private.accept_invitation", hash);
}
