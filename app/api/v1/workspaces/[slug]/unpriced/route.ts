import { workspaceParams } from "@/lib/contract/access/workspace";
import { unpricedList } from "@/lib/contract/ledger/prices";
import { defineRoute, endpoint } from "@/lib/http/define-route";
import { listUnpriced } from "@/lib/ledger/custom-prices/service";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  GET: endpoint({
    summary: "List unpriced usage",
    description: "Usage that counts as 0 until a price is set for it, by provider, model and unit.",
    auth: "user",
    role: "viewer",
    params: workspaceParams,
    response: unpricedList,
    errors: ["not_found"],
    run: ({ principal, params }) => listUnpriced(principal.claims, params.slug),
  }),
});
