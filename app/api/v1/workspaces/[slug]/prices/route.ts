import { workspaceParams } from "@/lib/contract/access/workspace";
import { priceList, setPriceRequest, setPriceResult } from "@/lib/contract/ledger/prices";
import { defineRoute, endpoint } from "@/lib/http/define-route";
import { listPrices, setPrice } from "@/lib/ledger/custom-prices/service";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  GET: endpoint({
    summary: "List the workspace's own prices",
    description:
      "Includes disputed prices of the catalogue, and the latest corrections that own prices started, with their progress.",
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
      "Sets the price of one unit from an instant on, for admins. It applies to the next message. Messages that were unpriced since that instant are corrected in the background with all their sums; messages that had a price, only in the range that `reprice` gives. Closed months stay as they are.",
    auth: "user",
    role: "admin",
    params: workspaceParams,
    body: setPriceRequest,
    response: setPriceResult,
    errors: ["not_found", "permission_denied"],
    run: ({ principal, params, body }) => setPrice(principal.claims, params.slug, body),
  }),
});
