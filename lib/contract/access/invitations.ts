import { z } from "zod";
import { instant, uuid } from "@/lib/contract/values/fields";
import { workspaceSlug } from "./workspace";

/** Roles that an invitation can offer. Ownership can only be transferred to a member. */
const invitedRole = z.enum(["admin", "member", "viewer"], { error: "must be admin, member or viewer" });

const maxDays = 30;
const wholeDays = { error: `must be a whole number of days from 1 to ${maxDays}` };

/** An invitation that has not been accepted. Its link is shown once, by the call that made it. */
export const invitation = z
  .object({
    id: uuid,
    role: invitedRole,
    email: z
      .string()
      .nullable()
      .meta({ description: "The only address it is for; null: anybody with the link." }),
    invited_by: z.object({ user_id: uuid, display_name: z.string().nullable(), email: z.string() }),
    created_at: instant,
    expires_at: instant,
    expired: z.boolean(),
  })
  .meta({ id: "Invitation" });

export type Invitation = z.output<typeof invitation>;

export const invitationList = z
  .object({
    invitations: z.array(invitation).meta({ description: "Open invitations, the newest first." }),
  })
  .meta({ id: "InvitationList" });

export const createInvitationRequest = z
  .strictObject({
    role: invitedRole,
    email: z
      .string()
      .trim()
      .toLowerCase()
      .max(255, "must have at most 255 characters")
      .pipe(z.email({ error: "must be an e-mail address" }))
      .nullable()
      .default(null)
      .meta({
        description: "The only address it is for. Left out: anybody with the link.",
        jsonSchema: { type: ["string", "null"], format: "email", maxLength: 255 },
      }),
    expires_in_days: z.number(wholeDays).int(wholeDays).min(1, wholeDays).max(maxDays, wholeDays).default(7),
  })
  .meta({ id: "CreateInvitationRequest" });
export type CreateInvitationRequest = z.output<typeof createInvitationRequest>;

export const createdInvitation = z
  .object({
    invitation,
    link: z.url().meta({
      description: "Send it to the invited person. It works once and is not shown again.",
    }),
  })
  .meta({ id: "CreatedInvitation" });

export const invitationParams = z.strictObject({ slug: workspaceSlug, id: uuid });

/** Any text: a damaged link gets the same answer as an unknown one. */
export const invitationTokenParams = z.strictObject({
  token: z.string().meta({ description: "What follows `/invite/` in the link." }),
});

/** What an invitation offers, as shown to the signed-in user who opened its link. */
export const invitationOffer = z
  .object({
    workspace: z.object({ name: z.string() }),
    role: invitedRole,
    invited_by: z.string().meta({ description: "The inviter's name, otherwise their address." }),
    email: z
      .string()
      .nullable()
      .meta({ description: "The only address it is for; null: anybody with the link." }),
    expires_at: instant,
    is_for_you: z.boolean().meta({ description: "False if it is for another address than yours." }),
    already_member: z.boolean(),
  })
  .meta({ id: "InvitationOffer" });
export type InvitationOffer = z.output<typeof invitationOffer>;
