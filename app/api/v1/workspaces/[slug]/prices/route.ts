import { priceList, setPriceRequest, setPriceResult } from "@/lib/contract/prices";
import { workspaceParams } from "@/lib/contract/workspace";
import { defineRoute, endpoint } from "@/lib/http/define-route";
import { listPrices, setPrice } from "@/lib/ledger/custom-prices/service";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  GET: endpoint({
    summary: "List the workspace's own prices",
    description: "With the latest corrections that setting them began, and how far each has come.",
    auth: "user",
    role: "viewer",
    params: workspaceParams,
    response: priceList,
    errors: ["not_found"],
    run: ({ principal, params }) => listPrices(principal.claims, params.slug),
  }),
  PUT: endpoint({
    summary: "Set a price",
    description:
      "Sets what one unit costs from an instant on, for admins. It holds for the very next message. What has been unpriced since then is corrected in the background, with every sum it is part of; what was priced before, where `reprice` gives a range.",
    auth: "user",
    role: "admin",
    params: workspaceParams,
    body: setPriceRequest,
    response: setPriceResult,
    errors: ["not_found", "permission_denied"],
    run: ({ principal, params, body }) => setPrice(principal.claims, params.slug, body),
  }),
});
