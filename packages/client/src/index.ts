export type {
  AllocationMessage,
  ApiErrorCode,
  BatchItem,
  BatchMessage,
  CostRequest,
  CostStatus,
  ExpenseMessage,
  IngestResult,
  Source,
  SubscriptionMessage,
  UsageLine,
  UsageMessage,
} from "./contract.generated.js";
export { type ApiErrorBody, type ClientErrorCode, OutlayError } from "./errors.js";
export type { CostMessage, Counts, Fetch, OutlayOptions, RecordOptions } from "./options.js";
export { Outlay } from "./outlay.js";
