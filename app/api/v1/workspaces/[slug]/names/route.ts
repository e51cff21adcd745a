import { workspaceParams } from "@/lib/contract/access/workspace";
import { nameList, namesQuery } from "@/lib/contract/spend/names";
import { defineRoute, endpoint } from "@/lib/http/define-route";
import { findNames } from "@/lib/spend/names/service";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  GET: endpoint({
    summary: "Find names",
    description:
      "The features, people, models, providers and tags whose name contains a text, among those with spend this year: up to 20 of each, those that begin with the text first.",
    auth: "user",
    role: "viewer",
    params: workspaceParams,
    query: namesQuery,
    response: nameList,
    errors: ["not_found"],
    run: ({ principal, params, query }) => findNames(principal.claims, params.slug, query),
  }),
});
