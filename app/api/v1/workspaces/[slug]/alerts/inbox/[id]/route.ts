import { editEntry, readEntry } from "@/lib/alerts/inbox/service";
import { changeEntryRequest, entryParams, inboxEntry } from "@/lib/contract/alerts/alert-inbox";
import { defineRoute, endpoint } from "@/lib/http/define-route";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  GET: endpoint({
    summary: "Read an entry of the inbox",
    description: "What it is about, the alerts that were raised of it, who has it, and why it was resolved.",
    auth: "user",
    role: "viewer",
    params: entryParams,
    response: inboxEntry,
    errors: ["not_found"],
    run: ({ principal, params }) => readEntry(principal.claims, params.slug, params.id),
  }),
  PATCH: endpoint({
    summary: "Assign or resolve an entry of the inbox",
    description:
      "Assigns it to a member, resolves it, or opens it again. Not for viewers. To resolve one that is resolved changes nothing. One that was resolved by itself cannot be opened: 409. To snooze it, use `POST …/alert-snoozes` with its rule and the id of its subject.",
    auth: "user",
    role: "member",
    params: entryParams,
    body: changeEntryRequest,
    response: inboxEntry,
    errors: ["not_found", "permission_denied", "conflict"],
    run: ({ principal, params, body }) => editEntry(principal.claims, params.slug, params.id, body),
  }),
});
