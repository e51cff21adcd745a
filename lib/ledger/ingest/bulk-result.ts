import type { z } from "zod";
import type { bulkResult } from "@/lib/contract/ledger/ingest-result";
import { ServiceError, type Verdict } from "@/lib/errors";
import type { Recorded } from "./call";

/** The answer to a bulk call: its verdicts in order, with their counts. */
export function toBulkResult(verdicts: Verdict<Recorded>[]): z.output<typeof bulkResult> {
  const results = verdicts.map((item, index) =>
    item instanceof ServiceError
      ? { index, status: item.status, error: item.code, error_description: item.message, ...item.fields }
      : { index, status: 201 as const, ...item.result, replayed: item.replayed },
  );
  const recorded = results.filter(({ status }) => status === 201).length;
  return { recorded, refused: results.length - recorded, results };
}
