import { linkLimit, listLimits } from "@/lib/bills/limits/service";
import { workspaceParams } from "@/lib/contract/access/workspace";
import {
  linkProviderLimitRequest,
  providerLimit,
  providerLimitList,
} from "@/lib/contract/bills/provider-limits";
import { defineRoute, endpoint } from "@/lib/http/define-route";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  GET: endpoint({
    summary: "List limits at providers",
    description:
      "The limits at providers that follow budgets: what each budget wants, what the provider held when it was read, and whether they are equal. The providers' own ids are in no answer.",
    auth: "user",
    role: "viewer",
    params: workspaceParams,
    response: providerLimitList,
    errors: ["not_found"],
    run: ({ principal, params }) => listLimits(principal.claims, params.slug),
  }),
  POST: endpoint({
    summary: "Link a budget to a limit at a provider",
    description:
      "For admins. From now on the budget's limit is written at the provider, in place of the limit it has there: now, at each change, and when a raise begins and ends. It is read back after each write, and once a day. What is less than the provider's smallest unit is cut off. Writing happens in the background; the list says how it ended.",
    auth: "user",
    role: "admin",
    params: workspaceParams,
    body: linkProviderLimitRequest,
    response: providerLimit,
    status: 201,
    errors: ["not_found", "permission_denied", "conflict"],
    run: ({ principal, params, body }) => linkLimit(principal.claims, params.slug, body),
  }),
});
