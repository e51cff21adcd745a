import { workspaceParams } from "@/lib/contract/access/workspace";
import { defineRoute, endpoint } from "@/lib/http/define-route";
import { StreamedBody, streamed } from "@/lib/http/streamed";
import { exportWorkspace, probeArchive } from "@/lib/spend/archive/service";

async function* nothing(): AsyncGenerator<string> {}

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  GET: endpoint({
    summary: "Export a whole workspace",
    description:
      "For admins: a ZIP archive of everything in the workspace, as of one moment. `messages.csv` and `messages.ndjson` have every posting; the other files are NDJSON: members, projects, prices, budgets, keys without their secrets, connections, invitations, subscriptions, saved views, alert channels without their addresses, alerts, sums by day and the audit log. `manifest.json` comes last, with the rows and the SHA-256 of each file, the sum of the postings, and the ledger's own sums. An incomplete archive has no directory and cannot be opened. Each user may have one export at a time; HEAD says whether one could begin now.",
    auth: "user",
    role: "admin",
    params: workspaceParams,
    response: streamed("application/zip", "A ZIP archive (ZIP64)."),
    errors: ["not_found", "permission_denied", "export_in_progress"],
    run: async ({ request, principal, params }) => {
      if (request.method === "HEAD") {
        await probeArchive(principal.claims, params.slug);
        return new StreamedBody(nothing(), "");
      }
      const { bytes, fileName, end } = await exportWorkspace(principal.claims, params.slug);
      return new StreamedBody(bytes, fileName, end);
    },
  }),
});
