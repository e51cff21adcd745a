import { readReconciliationOfKey } from "@/lib/bills/reconciliation";
import { ingestRequest } from "@/lib/contract/ledger/message";
import { parsePart } from "@/lib/contract/values/parse-part";
import { validationFailed } from "@/lib/errors";
import { decideAttempt } from "@/lib/keys/decide";
import type { KeyPrincipal } from "@/lib/keys/identify";
import { readClosedMonths } from "@/lib/ledger/closing/service";
import { askAsKey } from "@/lib/spend/budget-requests/service";
import { readBudgetStatus } from "@/lib/spend/budgets/service";
import { querySpendAsKey } from "@/lib/spend/explore/service";
import { readProjectSpend } from "@/lib/spend/summaries/project-spend";
import { readMonthSummary } from "@/lib/spend/summaries/service";
import type { ToolAdmission } from "./admission";
import type { Backend, Recording } from "./backend";

/** A backend that calls the services directly, with the permissions of the caller's key. */
export function storeBackend(admission: ToolAdmission): Backend {
  const requireReading = async (): Promise<KeyPrincipal> => {
    const principal = await admission.require();
    const refusal = decideAttempt(principal.key, { permissions: ["read_summaries"] });
    if (refusal) throw refusal;
    return principal;
  };
  return {
    record: (recording) => admission.record(readRecording(recording)),
    readProjectSpend: async (slug, query) => {
      const { claims } = await requireReading();
      return readProjectSpend(claims, slug, query);
    },
    querySpend: async (query) => {
      const { claims } = await requireReading();
      return querySpendAsKey(claims, query);
    },
    readBudgetStatus: async () => {
      const { claims } = await requireReading();
      return readBudgetStatus(claims);
    },
    requestBudget: async (request) => {
      const principal = await admission.require();
      const refusal = decideAttempt(principal.key, { permissions: ["log_usage"] });
      if (refusal) throw refusal;
      return askAsKey(principal, request);
    },
    readMonthSummary: async () => {
      const { claims } = await requireReading();
      return readMonthSummary(claims);
    },
    readClosedMonths: async () => {
      const { claims } = await requireReading();
      return readClosedMonths(claims);
    },
    readReconciliation: async (month) => {
      const { claims } = await requireReading();
      return readReconciliationOfKey(claims, month);
    },
  };
}

function readRecording(recording: Recording) {
  const read = parsePart(ingestRequest, { ...recording, source: "mcp" });
  return read.ok ? read.value : validationFailed(read.issues);
}
