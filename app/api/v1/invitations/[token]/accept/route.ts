import { acceptInvitation } from "@/lib/access/invitations/service";
import { invitationTokenParams } from "@/lib/contract/access/invitations";
import { membership } from "@/lib/contract/access/me";
import { defineRoute, endpoint } from "@/lib/http/define-route";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  POST: endpoint({
    summary: "Accept an invitation",
    description:
      "Makes you a member and uses up the link. If you are already a member, you keep your role and the link stays valid.",
    auth: "user",
    params: invitationTokenParams,
    response: membership,
    errors: ["account_deleted", "not_found", "permission_denied"],
    run: ({ principal, params }) => acceptInvitation(principal.claims, params.token),
  }),
});
