import { listAudit } from "@/lib/access/audit/service";
import { auditList, auditQuery } from "@/lib/contract/audit";
import { workspaceParams } from "@/lib/contract/workspace";
import { defineRoute, endpoint } from "@/lib/http/define-route";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  GET: endpoint({
    summary: "Read the audit log",
    description:
      "Who changed what, when and from where, the newest first, for admins. Secrets and their hashes are never in it.",
    auth: "user",
    role: "admin",
    params: workspaceParams,
    query: auditQuery,
    response: auditList,
    errors: ["not_found", "permission_denied"],
    run: ({ principal, params, query }) => listAudit(principal.claims, params.slug, query),
  }),
});
