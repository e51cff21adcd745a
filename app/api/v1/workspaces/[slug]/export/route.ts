import { exportQuery } from "@/lib/contract/activity";
import { workspaceParams } from "@/lib/contract/workspace";
import { defineRoute, endpoint } from "@/lib/http/define-route";
import { StreamedBody, streamed } from "@/lib/http/streamed";
import { exportActivity } from "@/lib/reads/export";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  GET: endpoint({
    summary: "Export what was recorded",
    description:
      "Every row that activity would list under the same filters, latest first, as CSV: in columns of its own, or in those of FOCUS 1.2 with a row for each line of a batch.",
    auth: "user",
    role: "viewer",
    params: workspaceParams,
    query: exportQuery,
    response: streamed("text/csv; charset=utf-8", "RFC 4180, with a header."),
    errors: ["not_found"],
    run: async ({ principal, params, query }) => {
      const { text, fileName } = await exportActivity(principal.claims, params.slug, query, Date.now());
      return new StreamedBody(text, fileName);
    },
  }),
});
