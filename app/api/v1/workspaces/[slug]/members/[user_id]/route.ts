import { changeRole, removeMember } from "@/lib/access/members/service";
import { changeMemberRequest, member, memberParams } from "@/lib/contract/access/members";
import { defineRoute, endpoint } from "@/lib/http/define-route";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  PATCH: endpoint({
    summary: "Change a member's role",
    description:
      "Owners change everybody's role, admins everybody's but an owner's. The last owner keeps the role. A member's API keys belong to the workspace and keep working.",
    auth: "user",
    role: "admin",
    params: memberParams,
    body: changeMemberRequest,
    response: member,
    errors: ["not_found", "permission_denied", "conflict"],
    run: ({ principal, params, body }) =>
      changeRole(principal.claims, params.slug, params.user_id, body.role),
  }),
  DELETE: endpoint({
    summary: "Remove a member, or leave",
    description:
      "Members leave with their own id; admins remove others, owners also owners. The last owner cannot leave. A member's API keys belong to the workspace and keep working; their open invitations are revoked. Answers the former membership.",
    auth: "user",
    role: "viewer",
    params: memberParams,
    response: member,
    errors: ["not_found", "permission_denied", "conflict"],
    run: ({ principal, params }) => removeMember(principal.claims, params.slug, params.user_id),
  }),
});
