import { revokeInvitation } from "@/lib/access/invitations/service";
import { invitation, invitationParams } from "@/lib/contract/invitations";
import { defineRoute, endpoint } from "@/lib/http/define-route";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  DELETE: endpoint({
    summary: "Revoke an invitation",
    description: "Its link is worth nothing from then on. Answers the invitation that was.",
    auth: "user",
    role: "admin",
    params: invitationParams,
    response: invitation,
    errors: ["not_found", "permission_denied"],
    run: ({ principal, params }) => revokeInvitation(principal.claims, params.slug, params.id),
  }),
});
