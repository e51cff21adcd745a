import { messageDetail, messageParams } from "@/lib/contract/spend/message-detail";
import { defineRoute, endpoint } from "@/lib/http/define-route";
import { readMessage } from "@/lib/spend/activity/message";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  GET: endpoint({
    summary: "Read one message",
    description: "All its details: who recorded it, how its amount was computed, its lines and entries.",
    auth: "user",
    role: "viewer",
    params: messageParams,
    response: messageDetail,
    errors: ["not_found"],
    run: ({ principal, params }) => readMessage(principal.claims, params.slug, params.id),
  }),
});
