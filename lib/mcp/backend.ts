import type { z } from "zod";
import type { InboxQuery } from "@/lib/contract/alerts/alert-inbox";
import type { ToolEntry, ToolInbox } from "@/lib/contract/alerts/alert-tools";
import type { Reconciliation } from "@/lib/contract/bills/reconciliation";
import type { closedMonths } from "@/lib/contract/ledger/closed-months";
import type { BudgetCheck, CheckBudget } from "@/lib/contract/spend/budget-check";
import type { AskForBudget, KeyBudgetRequest } from "@/lib/contract/spend/budget-requests";
import type { budgetStatus, monthSummary, projectSpend, projectSpendQuery } from "@/lib/contract/spend/reads";
import type { RecommendationList } from "@/lib/contract/spend/recommendations";
import type { keySpendQuery, SpendAnswer } from "@/lib/contract/spend/spend-query";
import type { Recorded } from "@/lib/ledger/ingest/call";

/** A cost message as the REST API accepts it, without `source`, which is always `mcp`. */
export type Recording = {
  project: string;
  idempotency_key: string;
  message: { type: "usage" | "expense"; [field: string]: unknown };
};

/**
 * What the tools call: the services directly when they are served over HTTP (`store-backend`), or the REST API when they run
 * in the local program on the user's machine (`rest-backend`). Every function throws a ServiceError when it refuses.
 */
export type Backend = {
  record(recording: Recording): Promise<Recorded>;
  readProjectSpend(
    slug: string,
    query: z.output<typeof projectSpendQuery>,
  ): Promise<z.output<typeof projectSpend>>;
  querySpend(query: z.output<typeof keySpendQuery>): Promise<SpendAnswer>;
  readBudgetStatus(): Promise<z.output<typeof budgetStatus>>;
  checkBudget(asked: CheckBudget): Promise<BudgetCheck>;
  requestBudget(request: AskForBudget): Promise<KeyBudgetRequest>;
  readMonthSummary(): Promise<z.output<typeof monthSummary>>;
  readClosedMonths(): Promise<z.output<typeof closedMonths>>;
  readReconciliation(month: string | undefined): Promise<Reconciliation>;
  listRecommendations(): Promise<RecommendationList>;
  /** Null in the local program: its API key belongs to no person. */
  alerts: AlertsBackend | null;
};

/** The inbox of alerts, with the rights of the person who connected the program. Links of its entries are absolute. */
export type AlertsBackend = {
  list(query: InboxQuery): Promise<ToolInbox>;
  assign(id: string, assignee: "me" | "nobody"): Promise<ToolEntry>;
  /** @param until an instant */
  snooze(id: string, until: string): Promise<ToolEntry>;
  resolve(id: string, resolved: boolean): Promise<ToolEntry>;
};
