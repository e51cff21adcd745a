import { editEntry, listEntries, snoozeEntry } from "@/lib/alerts/inbox/service";
import { readReconciliationOfKey } from "@/lib/bills/reconciliation";
import type { Permission } from "@/lib/contract/access/permissions";
import type { ChangeEntryRequest, InboxEntry } from "@/lib/contract/alerts/alert-inbox";
import type { ToolEntry } from "@/lib/contract/alerts/alert-tools";
import { ingestRequest } from "@/lib/contract/ledger/message";
import { parsePart } from "@/lib/contract/values/parse-part";
import { validationFailed } from "@/lib/errors";
import { decideAttempt } from "@/lib/keys/decide";
import type { KeyPrincipal } from "@/lib/keys/identify";
import { type Person, personOf } from "@/lib/keys/person";
import { readClosedMonths } from "@/lib/ledger/closing/service";
import { serviceAddress } from "@/lib/service-address";
import { askAsKey } from "@/lib/spend/budget-requests/ask";
import { readBudgetStatus } from "@/lib/spend/budgets/service";
import { querySpendAsKey } from "@/lib/spend/explore/service";
import { readKeyLimits } from "@/lib/spend/limits/service";
import { listRecommendationsOfKey } from "@/lib/spend/recommendations/service";
import { readProjectSpend } from "@/lib/spend/summaries/project-spend";
import { readMonthSummary } from "@/lib/spend/summaries/service";
import type { ToolAdmission } from "./admission";
import type { AlertsBackend, Backend, Recording } from "./backend";
import { checkBudgetWith } from "./check-budget";

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
    checkBudget: async (asked) => {
      const principal = await admission.require();
      const refusal = decideAttempt(principal.key, { permissions: ["log_usage"] });
      if (refusal) throw refusal;
      return checkBudgetWith(asked, {
        readLimits: (of) => readKeyLimits(principal, of),
        tryRecording: (recording) => admission.record(readRecording(recording), true),
      });
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
    listRecommendations: async () => {
      const { claims } = await requireReading();
      return listRecommendationsOfKey(claims);
    },
    alerts: storedAlerts(admission),
  };
}

/** The inbox, read and changed with the rights of the person behind the key (`lib/keys/person.ts`). */
function storedAlerts(admission: ToolAdmission): AlertsBackend {
  const requirePerson = async (permission: Permission): Promise<Person> => {
    const principal = await admission.require();
    const refusal = decideAttempt(principal.key, { permissions: [permission] });
    if (refusal) throw refusal;
    return personOf(principal, admission.address);
  };
  const edit = async (id: string, changesOf: (person: Person) => ChangeEntryRequest) => {
    const person = await requirePerson("manage_alerts");
    return toToolEntry(await editEntry(person.claims, person.slug, id, changesOf(person)));
  };
  return {
    list: async (query) => {
      const { claims, slug } = await requirePerson("read_summaries");
      const { entries, next_cursor, counts } = await listEntries(claims, slug, query);
      return { entries: entries.map(toToolEntry), next_cursor, counts };
    },
    assign: (id, assignee) =>
      edit(id, ({ claims }) => ({ assignee_id: assignee === "me" ? claims.sub : null })),
    snooze: async (id, until) => {
      const { claims, slug } = await requirePerson("manage_alerts");
      return toToolEntry(await snoozeEntry(claims, slug, id, until));
    },
    resolve: (id, resolved) => edit(id, () => ({ resolved })),
  };
}

/** An entry without the fields that assistants do not need, and with absolute links. */
function toToolEntry({ figures: _, course: _course, links, ...entry }: InboxEntry): ToolEntry {
  const address = serviceAddress();
  return { ...entry, links: links.map(({ text, url }) => ({ text, url: `${address}${url}` })) };
}

function readRecording(recording: Omit<Recording, "idempotency_key">) {
  const read = parsePart(ingestRequest, { ...recording, source: "mcp" });
  return read.ok ? read.value : validationFailed(read.issues);
}
