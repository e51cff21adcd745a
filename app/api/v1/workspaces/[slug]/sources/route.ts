import { workspaceParams } from "@/lib/contract/access/workspace";
import { sourceList } from "@/lib/contract/sources/sources";
import { defineRoute, endpoint } from "@/lib/http/define-route";
import { listSources } from "@/lib/keys/sources/service";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  GET: endpoint({
    summary: "List a workspace's sources",
    description:
      "The API keys that programs send with (OpenTelemetry, gateways): those that were set up as sources, or sent something, with what came in. To add one, make an API key with `source`. What came in is counted within seconds.",
    auth: "user",
    role: "viewer",
    params: workspaceParams,
    response: sourceList,
    errors: ["not_found"],
    run: ({ principal, params }) => listSources(principal.claims, params.slug),
  }),
});
