import { replayResult, sourceParams } from "@/lib/contract/sources/sources";
import { defineRoute, endpoint } from "@/lib/http/define-route";
import { replayRefused } from "@/lib/sources/replay";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  POST: endpoint({
    summary: "Send refused records again",
    description:
      "Records what a source was refused, by the conditions and settings that its key has now. What was recorded meanwhile counts once. Kept are the refused records of the last 20 requests of 7 days, at most 1 MiB, without prompts and answers. What is refused again stays kept. Does not count against the key's rate. Members send again what the keys they made were refused, admins all.",
    auth: "user",
    role: "member",
    params: sourceParams,
    response: replayResult,
    errors: ["not_found", "permission_denied", "conflict", "rate_limited", "unavailable"],
    run: ({ principal, params }) => replayRefused(principal.claims, params.slug, params.id),
  }),
});
