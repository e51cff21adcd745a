import { closingParams } from "@/lib/contract/ledger/closed-months";
import { defineRoute, endpoint } from "@/lib/http/define-route";
import { StreamedBody, streamed } from "@/lib/http/streamed";
import { readClosedMonth } from "@/lib/ledger/closing/service";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  GET: endpoint({
    summary: "Download the filed export of a closed month",
    description:
      "The live figures of the month as they were when it was closed, as CSV: a row for each day, project, type, provider, model, feature, key, source and set of tags. The same bytes each time; `Outlay-SHA256` is their hash. It names no person, so that an erasure does not change it.",
    auth: "user",
    role: "viewer",
    params: closingParams,
    response: streamed("text/csv; charset=utf-8", "RFC 4180, with a header."),
    errors: ["not_found", "conflict"],
    run: async ({ principal, params }) => {
      const { bytes, fileName, sha256 } = await readClosedMonth(principal.claims, params.slug, params.id);
      return new StreamedBody(bytes, fileName, undefined, { "Outlay-SHA256": sha256 });
    },
  }),
});
