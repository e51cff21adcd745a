import { createInvitation, listInvitations } from "@/lib/access/invitations/service";
import { createdInvitation, createInvitationRequest, invitationList } from "@/lib/contract/invitations";
import { workspaceParams } from "@/lib/contract/workspace";
import { defineRoute, endpoint } from "@/lib/http/define-route";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  GET: endpoint({
    summary: "List the open invitations",
    description: "Those that nobody has accepted, expired ones too, for admins. Links are not shown again.",
    auth: "user",
    role: "admin",
    params: workspaceParams,
    response: invitationList,
    errors: ["not_found", "permission_denied"],
    run: ({ principal, params }) => listInvitations(principal.claims, params.slug),
  }),
  POST: endpoint({
    summary: "Invite somebody by link",
    description:
      "Makes a link that whoever opens it can join with, once; with `email`, only who is signed in with that address. No mail is sent: pass the link on yourself.",
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
