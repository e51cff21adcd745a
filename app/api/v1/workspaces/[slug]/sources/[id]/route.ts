import { source, sourceParams } from "@/lib/contract/sources/sources";
import { defineRoute, endpoint } from "@/lib/http/define-route";
import { readSource } from "@/lib/keys/sources/service";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  GET: endpoint({
    summary: "Read a source",
    description:
      "What an API key sent, by emitter, what was refused and why, and which models have no price. Its settings are changed with the key: `PATCH …/api-keys/{id}` with `source`.",
    auth: "user",
    role: "viewer",
    params: sourceParams,
    response: source,
    errors: ["not_found"],
    run: ({ principal, params }) => readSource(principal.claims, params.slug, params.id),
  }),
});
