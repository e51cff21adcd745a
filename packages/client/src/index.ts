export type {
  AllocationMessage,
  ApiErrorCode,
  BatchItem,
  BatchMessage,
  CostRequest,
  CostStatus,
  ExpenseMessage,
  IngestResult,
  Reservation,
  Source,
  SubscriptionMessage,
  UsageLine,
  UsageMessage,
} from "./contract.generated.js";
export {
  type ApiErrorBody,
  BudgetExceededError,
  type ClientErrorCode,
  type HowToAsk,
  OutlayError,
} from "./errors.js";
export type { CostMessage, Counts, Fetch, OutlayOptions, RecordOptions, ReserveOptions } from "./options.js";
export { Outlay } from "./outlay.js";
