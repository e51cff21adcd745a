import { replayResult, sourceParams } from "@/lib/contract/sources/sources";
import { defineRoute, endpoint } from "@/lib/http/define-route";
import { replayRefused } from "@/lib/sources/replay";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  POST: endpoint({
    summary: "Send refused records again",
    description:
      "Records the refused records of a source again, by the present conditions and settings of its key. A record that was recorded meanwhile counts once. The service keeps the refused records of the last 20 requests of 7 days, at most 1 MiB, without prompts and answers. Records that are refused again stay kept. Does not count against the key's rate. Members can do this for keys that they created, admins for all keys.",
    auth: "user",
    role: "member",
    params: sourceParams,
    response: replayResult,
    errors: ["not_found", "permission_denied", "conflict", "rate_limited", "unavailable"],
    run: ({ principal, params }) => replayRefused(principal.claims, params.slug, params.id),
  }),
});
