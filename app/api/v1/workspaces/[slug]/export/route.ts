import { workspaceParams } from "@/lib/contract/access/workspace";
import { exportQuery } from "@/lib/contract/spend/activity-filters";
import { defineRoute, endpoint } from "@/lib/http/define-route";
import { StreamedBody, streamed } from "@/lib/http/streamed";
import { exportActivity, probeExport } from "@/lib/spend/exports/service";

async function* noText(): AsyncGenerator<string> {}

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  GET: endpoint({
    summary: "Export activity",
    description:
      "Every row that activity would list under the same filters, latest first, as CSV: in columns of its own, or in those of FOCUS 1.2 with a row for each line of a batch. Each user may have one export at a time. If the connection breaks before the answer ends, the file is incomplete. HEAD says whether an export could begin now. Where the operator has removed messages of the period, `Outlay-Removed-Before` is the day (UTC) before which they are missing; a period without any left is a `conflict`.",
    auth: "user",
    role: "viewer",
    params: workspaceParams,
    query: exportQuery,
    response: streamed("text/csv; charset=utf-8", "RFC 4180, with a header."),
    errors: ["not_found", "conflict", "export_in_progress"],
    run: async ({ request, principal, params, query }) => {
      if (request.method === "HEAD") {
        await probeExport(principal.claims, params.slug);
        return new StreamedBody(noText(), "");
      }
      const { text, fileName, end, removedBefore } = await exportActivity(
        principal.claims,
        params.slug,
        query,
      );
      return new StreamedBody(text, fileName, end, {
        ...(removedBefore !== null && { "Outlay-Removed-Before": removedBefore }),
      });
    },
  }),
});
