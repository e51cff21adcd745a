import { restoreInvitation } from "@/lib/access/invitations/service";
import { invitation, invitationParams } from "@/lib/contract/access/invitations";
import { defineRoute, endpoint } from "@/lib/http/define-route";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  POST: endpoint({
    summary: "Restore an invitation",
    description:
      "For admins. Within ten minutes after it was revoked. Its link works again, until it expires.",
    auth: "user",
    role: "admin",
    params: invitationParams,
    response: invitation,
    errors: ["not_found", "permission_denied"],
    run: ({ principal, params }) => restoreInvitation(principal.claims, params.slug, params.id),
  }),
});
