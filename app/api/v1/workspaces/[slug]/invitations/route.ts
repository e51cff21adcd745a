import { createInvitation, listInvitations } from "@/lib/access/invitations/service";
import {
  createdInvitation,
  createInvitationRequest,
  invitationList,
} from "@/lib/contract/access/invitations";
import { workspaceParams } from "@/lib/contract/access/workspace";
import { defineRoute, endpoint } from "@/lib/http/define-route";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  GET: endpoint({
    summary: "List the open invitations",
    description:
      "Invitations that nobody has accepted, expired ones included, for admins. Links are not shown again.",
    auth: "user",
    role: "admin",
    params: workspaceParams,
    response: invitationList,
    errors: ["not_found", "permission_denied"],
    run: ({ principal, params }) => listInvitations(principal.claims, params.slug),
  }),
  POST: endpoint({
    summary: "Invite someone by link",
    description:
      "Creates a link with which one person can join; with `email`, only a user signed in with that address. No mail is sent: pass the link on yourself.",
    auth: "user",
    role: "admin",
    params: workspaceParams,
    body: createInvitationRequest,
    response: createdInvitation,
    status: 201,
    errors: ["not_found", "permission_denied", "rate_limited"],
    run: ({ principal, params, body }) => createInvitation(principal.claims, params.slug, body),
  }),
});
