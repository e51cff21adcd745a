import type { ToolPrincipal } from "@/lib/access/oauth/admit-tool-call";
import { ingestRequest } from "@/lib/contract/message";
import { parsePart } from "@/lib/contract/parse-part";
import type { Permission } from "@/lib/contract/permissions";
import { validationFailed } from "@/lib/errors";
import { decideAttempt } from "@/lib/keys/decide";
import { acceptedOne } from "@/lib/ledger/ingest/call";
import { ingest } from "@/lib/ledger/ingest/service";
import { readBudgetStatus } from "@/lib/spend/budgets/service";
import { readProjectSpend } from "@/lib/spend/summaries/project-spend";
import { readMonthSummary } from "@/lib/spend/summaries/service";
import type { Backend, Recording } from "./backend";

/**
 * A backend that calls the services directly, with the permissions of the caller's key.
 * @param principal the admitted caller; the HTTP request was counted against the rate limit already
 */
export function storeBackend({ key, claims, lookup }: ToolPrincipal, address: string | undefined): Backend {
  const requirePermission = (permission: Permission) => {
    const refusal = decideAttempt(key, { permissions: [permission] });
    if (refusal) throw refusal;
  };
  return {
    record: async (recording) => {
      const { outcome } = await ingest({
        lookup,
        address,
        isAdmitted: true,
        dryRun: false,
        idempotencyHeader: null,
        body: readRecording(recording),
      });
      return acceptedOne(outcome);
    },
    readProjectSpend: async (slug, range) => {
      requirePermission("read_summaries");
      return readProjectSpend(claims, slug, range);
    },
    readBudgetStatus: async () => {
      requirePermission("read_summaries");
      return readBudgetStatus(claims);
    },
    readMonthSummary: async () => {
      requirePermission("read_summaries");
      return readMonthSummary(claims);
    },
  };
}

function readRecording(recording: Recording) {
  const read = parsePart(ingestRequest, { ...recording, source: "mcp" });
  return read.ok ? read.value : validationFailed(read.issues);
}
