import { keyLimits, limitsQuery } from "@/lib/contract/spend/limits";
import { defineRoute, endpoint } from "@/lib/http/define-route";
import { readKeyLimits } from "@/lib/spend/limits/service";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  GET: endpoint({
    summary: "What limits this key?",
    description:
      "The limits of the calling key, and the budgets that cover what it records: how much is left, whether they block, and when they reset. The parameters leave out budgets that do not count the usage they describe.",
    auth: "key",
    query: limitsQuery,
    response: keyLimits,
    run: ({ principal, query }) => readKeyLimits(principal, query),
  }),
});
