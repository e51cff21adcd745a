import { revokeInvitation } from "@/lib/access/invitations/service";
import { invitation, invitationParams } from "@/lib/contract/access/invitations";
import { defineRoute, endpoint } from "@/lib/http/define-route";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  DELETE: endpoint({
    summary: "Revoke an invitation",
    description: "Its link stops working. Answers the revoked invitation.",
    auth: "user",
    role: "admin",
    params: invitationParams,
    response: invitation,
    errors: ["not_found", "permission_denied"],
    run: ({ principal, params }) => revokeInvitation(principal.claims, params.slug, params.id),
  }),
});
