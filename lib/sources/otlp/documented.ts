import { z } from "zod";
import { statusOf } from "@/lib/errors";
import { declaration, type Endpoint, type Handler } from "@/lib/http/define-route";
import { rpcCodeOf } from "./answer";
import type { Signal } from "./entry";

const recordsOf = { traces: "spans", metrics: "data points", logs: "log records" } as const;
const listOf = { traces: "resourceSpans", metrics: "resourceMetrics", logs: "resourceLogs" } as const;
const rejectedOf = {
  traces: "rejectedSpans",
  metrics: "rejectedDataPoints",
  logs: "rejectedLogRecords",
} as const;
const nameOf = { traces: "Traces", metrics: "Metrics", logs: "Logs" } as const;

/** `google.rpc.Status`, the body of errors in OTLP. */
const status = z
  .object({
    code: z.int().meta({ description: "The `google.rpc.Code` of the HTTP status." }),
    message: z.string().meta({ description: "The service's code of the error and its description." }),
  })
  .meta({ id: "OtlpStatus" });

/** Attaches the description of a receiver for the API document. The handler itself follows OTLP, not these schemas. */
export function documented(receive: Handler, signal: Signal, bodyLimitBytes: number): Handler {
  const described: Endpoint = {
    auth: "ingest",
    permission: "`log_usage`, for each call of a model.",
    summary: `Receive an export of ${signal}`,
    description: `Takes an OTLP/HTTP export in JSON or protobuf (\`application/x-protobuf\`), and records each call of a model that its ${recordsOf[signal]} report, once. Records without usage are ignored. Also accepts Basic credentials with the key as password. Counts as one request against the key's rate. What a condition of the key refuses, a record that cannot be read, and what is beyond 20,000 records or 500,000 attributes is counted and named in \`partialSuccess\`. Errors are \`google.rpc.Status\`.`,
    body: z
      .looseObject({ [listOf[signal]]: z.array(z.looseObject({})).optional() })
      .meta({ id: `Export${nameOf[signal]}Request` }),
    bodyLimitBytes,
    response: z
      .object({
        partialSuccess: z
          .object({
            [rejectedOf[signal]]: z
              .string()
              .optional()
              .meta({ description: `How many ${recordsOf[signal]} were refused, as text.` }),
            errorMessage: z
              .string()
              .optional()
              .meta({ description: "The reason, or a note about what was counted." }),
          })
          .optional(),
      })
      .meta({ id: `Export${nameOf[signal]}Response` }),
    errors: ["unavailable"],
    errorBody: {
      schema: status,
      example: (code, description) => ({
        code: rpcCodeOf(statusOf[code]),
        message: `${code}: ${description}`,
      }),
    },
    answer: () => Promise.reject(new Error("A receiver answers by itself.")),
  };
  return Object.assign(receive, { [declaration]: described });
}
