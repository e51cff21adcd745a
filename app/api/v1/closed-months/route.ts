import { closedMonths } from "@/lib/contract/ledger/closed-months";
import { defineRoute, endpoint } from "@/lib/http/define-route";
import { readClosedMonths } from "@/lib/ledger/closing/service";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  GET: endpoint({
    summary: "The closed months",
    description:
      "What was filed of each closed month. The figures are of all live costs, so a key of some projects or users, or of the test environment, sees none.",
    auth: "key",
    permission: "read_summaries",
    response: closedMonths,
    run: ({ principal }) => readClosedMonths(principal.claims),
  }),
});
