import { workspaceParams } from "@/lib/contract/access/workspace";
import { closedMonthList, closeRequest } from "@/lib/contract/ledger/closed-months";
import { defineRoute, endpoint } from "@/lib/http/define-route";
import { closeMonth, listClosedMonths } from "@/lib/ledger/closing/service";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  GET: endpoint({
    summary: "List months and closings",
    description:
      "Every month with its live costs, and which are closed: by whom, with what figures, and the hash of the filed export.",
    auth: "user",
    role: "viewer",
    params: workspaceParams,
    response: closedMonthList,
    errors: ["not_found"],
    run: ({ principal, params }) => listClosedMonths(principal.claims, params.slug),
  }),
  POST: endpoint({
    summary: "Close a month",
    description:
      "For admins. The figures of the month and of every open month before it stay as they are. What is recorded of them later (costs, imports, charges of subscriptions, voids, corrections) is booked at the time of recording, as an adjustment that names when the cost occurred (`adjusts`); repricing leaves them out. The figures are written to a filed export, which never changes. A month can be closed two days after its end.",
    auth: "user",
    role: "admin",
    params: workspaceParams,
    body: closeRequest,
    response: closedMonthList,
    status: 201,
    errors: ["not_found", "permission_denied", "conflict"],
    run: ({ principal, params, body }) => closeMonth(principal.claims, params.slug, body.month),
  }),
});
