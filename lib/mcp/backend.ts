import type { z } from "zod";
import type { budgetStatus, monthSummary, projectSpend } from "@/lib/contract/reads";
import type { Recorded } from "@/lib/ledger/ingest/call";

/** What is to be recorded: a cost message as the REST API takes it (specification 2.1), but for its source. */
export type Recording = {
  project: string;
  idempotency_key: string;
  message: { type: "usage" | "expense"; [field: string]: unknown };
};

/**
 * What the tools stand on: the services themselves over HTTP (`store-backend`), the REST API from a program on the
 * user's machine (`rest-backend`). Every function refuses by throwing a ServiceError.
 */
export type Backend = {
  record(recording: Recording): Promise<Recorded>;
  readProjectSpend(
    slug: string,
    range: { from?: string | undefined; to?: string | undefined },
  ): Promise<z.output<typeof projectSpend>>;
  readBudgetStatus(): Promise<z.output<typeof budgetStatus>>;
  readMonthSummary(): Promise<z.output<typeof monthSummary>>;
};
