import { endSnooze } from "@/lib/alerts/rules/service";
import { alertSnooze, snoozeParams } from "@/lib/contract/alerts/alert-rules";
import { defineRoute, endpoint } from "@/lib/http/define-route";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  DELETE: endpoint({
    summary: "End a snooze",
    description: "Its alerts are sent again from now on. For admins.",
    auth: "user",
    role: "admin",
    params: snoozeParams,
    response: alertSnooze,
    errors: ["not_found", "permission_denied"],
    run: ({ principal, params }) => endSnooze(principal.claims, params.slug, params.id),
  }),
});
