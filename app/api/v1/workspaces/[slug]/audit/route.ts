import { listAudit } from "@/lib/access/audit/service";
import { auditList, auditQuery } from "@/lib/contract/access/audit";
import { workspaceParams } from "@/lib/contract/access/workspace";
import { defineRoute, endpoint } from "@/lib/http/define-route";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  GET: endpoint({
    summary: "Read the audit log",
    description:
      "Who changed what, when and from where, for admins: filtered by author (a user or a key), kind, action, subject, text and days, newest or oldest first. Secrets and their hashes are never in it.",
    auth: "user",
    role: "admin",
    params: workspaceParams,
    query: auditQuery,
    response: auditList,
    errors: ["not_found", "permission_denied"],
    run: ({ principal, params, query }) => listAudit(principal.claims, params.slug, query),
  }),
});
