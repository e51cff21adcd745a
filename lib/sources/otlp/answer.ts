import { create, type DescMessage, type MessageShape, toBinary, toJsonString } from "@bufbuild/protobuf";
import type { ExportOutcome } from "@/lib/sources/record-export";
import type { Signal } from "./entry";
import { StatusSchema } from "./proto/google/rpc/status_pb";
import {
  ExportLogsPartialSuccessSchema,
  ExportLogsServiceResponseSchema,
} from "./proto/opentelemetry/proto/collector/logs/v1/logs_service_pb";
import {
  ExportMetricsPartialSuccessSchema,
  ExportMetricsServiceResponseSchema,
} from "./proto/opentelemetry/proto/collector/metrics/v1/metrics_service_pb";
import {
  ExportTracePartialSuccessSchema,
  ExportTraceServiceResponseSchema,
} from "./proto/opentelemetry/proto/collector/trace/v1/trace_service_pb";
import type { Encoding } from "./read-export";

export const contentTypes: Record<Encoding, string> = {
  protobuf: "application/x-protobuf",
  json: "application/json",
};

/** HTTP status → `google.rpc.Code`, for the bodies of errors. */
const rpcCodes: Record<number, number> = {
  400: 3,
  401: 16,
  402: 8,
  403: 7,
  404: 5,
  413: 3,
  415: 3,
  421: 3,
  429: 8,
  503: 14,
};
const internal = 13;

/** The `google.rpc.Code` of an HTTP status. */
export function rpcCodeOf(httpStatus: number): number {
  return rpcCodes[httpStatus] ?? internal;
}

/**
 * The body of a 200 in the request's encoding. `partial_success` is left out if nothing was refused and there are no remarks (OTLP,
 * section Partial Success); if nothing was refused, its text is a warning.
 */
export function encodeSuccess(signal: Signal, encoding: Encoding, outcome: ExportOutcome): BodyInit {
  const { refused, remarks } = outcome;
  const isWhole = refused === 0 && remarks.length === 0;
  const errorMessage = remarks.join(" ");
  const rejected = BigInt(refused);
  switch (signal) {
    case "traces": {
      const partialSuccess = create(ExportTracePartialSuccessSchema, {
        rejectedSpans: rejected,
        errorMessage,
      });
      return encode(ExportTraceServiceResponseSchema, encoding, isWhole ? {} : { partialSuccess });
    }
    case "metrics": {
      const partialSuccess = create(ExportMetricsPartialSuccessSchema, {
        rejectedDataPoints: rejected,
        errorMessage,
      });
      return encode(ExportMetricsServiceResponseSchema, encoding, isWhole ? {} : { partialSuccess });
    }
    case "logs": {
      const partialSuccess = create(ExportLogsPartialSuccessSchema, {
        rejectedLogRecords: rejected,
        errorMessage,
      });
      return encode(ExportLogsServiceResponseSchema, encoding, isWhole ? {} : { partialSuccess });
    }
  }
}

/** The body of an error: a `google.rpc.Status`. @param httpStatus the response's status */
export function encodeStatus(encoding: Encoding, httpStatus: number, message: string): BodyInit {
  return encode(StatusSchema, encoding, { code: rpcCodeOf(httpStatus), message });
}

function encode<D extends DescMessage>(
  schema: D,
  encoding: Encoding,
  fields: Partial<Omit<MessageShape<D>, "$typeName" | "$unknown">>,
): BodyInit {
  const message = Object.assign(create(schema), fields);
  return encoding === "json"
    ? toJsonString(schema, message)
    : (toBinary(schema, message) as Uint8Array<ArrayBuffer>);
}
