import { readInvitationOffer } from "@/lib/access/invitations/service";
import { invitationOffer, invitationTokenParams } from "@/lib/contract/access/invitations";
import { defineRoute, endpoint } from "@/lib/http/define-route";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  GET: endpoint({
    summary: "Read what an invitation offers",
    description: "For signed-in users with the link. A used, revoked or expired link is not found.",
    auth: "user",
    params: invitationTokenParams,
    response: invitationOffer,
    errors: ["account_deleted", "not_found"],
    run: ({ principal, params }) => readInvitationOffer(principal.claims, params.token),
  }),
});
