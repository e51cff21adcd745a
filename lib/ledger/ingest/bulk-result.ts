import type { z } from "zod";
import type { bulkResult } from "@/lib/contract/message";
import type { ServiceError } from "@/lib/errors";
import type { Recorded } from "./call";

/** The verdicts of a bulk call as its answer has them, in order. */
export function describeVerdicts(outcome: (Recorded | ServiceError)[]): z.output<typeof bulkResult> {
  const results = outcome.map((item, index) =>
    item instanceof Error
      ? { index, status: item.status, error: item.code, error_description: item.message, ...item.fields }
      : { index, status: 201 as const, ...item.result, replayed: item.replayed },
  );
  const recorded = results.filter(({ status }) => status === 201).length;
  return { recorded, refused: results.length - recorded, results };
}
