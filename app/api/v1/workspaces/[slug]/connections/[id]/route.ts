import { revokeConnection } from "@/lib/access/oauth/connections";
import { connectionParams, revokedConnection } from "@/lib/contract/access/connections";
import { defineRoute, endpoint } from "@/lib/http/define-route";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  DELETE: endpoint({
    summary: "Revoke a connection",
    description:
      "Ends a program's access at once, on every process. Members revoke their own connections, admins any. What it recorded stays.",
    auth: "user",
    role: "viewer",
    params: connectionParams,
    response: revokedConnection,
    errors: ["not_found", "permission_denied"],
    run: ({ principal, params }) => revokeConnection(principal.claims, params.slug, params.id),
  }),
});
