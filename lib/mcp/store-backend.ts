import { readBudgetStatus } from "@/lib/budgets/service";
import { ingestRequest } from "@/lib/contract/message";
import type { Permission } from "@/lib/contract/permissions";
import { readPart } from "@/lib/contract/read-part";
import { validationFailed } from "@/lib/errors";
import { ingest } from "@/lib/ingest/service";
import type { KeyLookup } from "@/lib/keys/api-key";
import { decideAttempt } from "@/lib/keys/decide";
import type { KeyPrincipal } from "@/lib/keys/guard";
import { readProjectSpend } from "@/lib/reads/project-spend";
import { readMonthSummary } from "@/lib/reads/summary";
import type { Backend, Recording } from "./backend";

/** A caller of the agent tools whose key was admitted, and counted against its rate, for this HTTP request. */
export type ToolCaller = { principal: KeyPrincipal; lookup: KeyLookup; address: string | undefined };

/** The tools on the services themselves, with what the caller's key may do and see. */
export function storeBackend({ principal, lookup, address }: ToolCaller): Backend {
  const { key, claims } = principal;
  const demand = (permission: Permission) => {
    const refusal = decideAttempt(key, { permission });
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
      if (outcome instanceof Error) throw outcome;
      const [recorded] = outcome;
      if (!recorded) throw new Error("A call with one message has one outcome.");
      if (recorded instanceof Error) throw recorded;
      return recorded;
    },
    readProjectSpend: async (slug, range) => {
      demand("read_summaries");
      return readProjectSpend(claims, slug, range, Date.now());
    },
    readBudgetStatus: async () => {
      demand("read_summaries");
      return readBudgetStatus(claims, Date.now());
    },
    readMonthSummary: async () => {
      demand("read_summaries");
      return readMonthSummary(claims, Date.now());
    },
  };
}

function readRecording(recording: Recording) {
  const read = readPart(ingestRequest, { ...recording, source: "mcp" });
  return read.ok ? read.value : validationFailed(read.issues);
}
