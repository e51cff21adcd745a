import { removeBill } from "@/lib/bills/service";
import { bill, billParams } from "@/lib/contract/bills/bills";
import { defineRoute, endpoint } from "@/lib/http/define-route";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  DELETE: endpoint({
    summary: "Delete a bill",
    description:
      "For admins. What earlier bills said of its days counts again. Adding the file again brings it back.",
    auth: "user",
    role: "admin",
    params: billParams,
    response: bill,
    errors: ["not_found", "permission_denied", "conflict"],
    run: ({ principal, params }) => removeBill(principal.claims, params.slug, params.id),
  }),
});
