import { digestOfOutage } from "./outage-digest";

/** Every error code of the service and its HTTP status. */
export const statusOf = {
  invalid_json: 400,
  validation_failed: 400,
  query_too_broad: 400,
  missing_credentials: 401,
  invalid_credentials: 401,
  key_revoked: 401,
  key_expired: 401,
  monthly_limit_exceeded: 402,
  budget_exceeded: 402,
  permission_denied: 403,
  project_not_allowed: 403,
  feature_not_allowed: 403,
  user_not_allowed: 403,
  source_not_allowed: 403,
  ip_not_allowed: 403,
  origin_not_allowed: 403,
  mfa_required: 403,
  recent_sign_in_required: 403,
  workspace_deleted: 403,
  account_deleted: 403,
  not_found: 404,
  method_not_allowed: 405,
  idempotency_conflict: 409,
  slug_taken: 409,
  conflict: 409,
  payload_too_large: 413,
  unsupported_media_type: 415,
  misdirected_request: 421,
  rate_limited: 429,
  export_in_progress: 429,
  internal_error: 500,
  unavailable: 503,
} as const;

/** A code of `statusOf`. */
export type ErrorCode = keyof typeof statusOf;

/** One problem of a request: the path of the field (`message.quantity`), and the remedy. */
export type Issue = { path: string; message: string };

/**
 * The only error that callers receive. Anything else that is thrown becomes `internal_error`, which is logged and sent
 * without details. `fields` become members of the error's body; `headers` are added to the response.
 */
export class ServiceError extends Error {
  override name = "ServiceError";
  readonly status: number;
  /** Next gives this to the error page of a page that throws the error. */
  readonly digest?: string;

  constructor(
    readonly code: ErrorCode,
    description: string,
    readonly fields: Record<string, unknown> = {},
    readonly headers: Record<string, string> = {},
  ) {
    super(description);
    this.status = statusOf[code];
    if (code === "unavailable") this.digest = digestOfOutage(description);
  }
}

/**
 * A result or a refusal. Errors are thrown, except where several items are decided one after another and one refusal must not prevent the
 * others: there a refusal is returned as a verdict.
 */
export type Verdict<T> = T | ServiceError;

/** Unwraps a verdict. @throws ServiceError the refusal */
export function accepted<T>(verdict: Verdict<T>): T {
  if (verdict instanceof ServiceError) throw verdict;
  return verdict;
}

/** The most issues of one error. A body can have a problem in each of its values. */
const maxIssues = 100;

/** A `validation_failed` for these issues. Its description names the first one, so that a single log line is useful. */
export function validationFailed(issues: Issue[]): ServiceError {
  const [first] = issues;
  const more = issues.length > 1 ? ` (and ${issues.length - 1} more)` : "";
  const description = first ? `${first.path}: ${first.message}${more}` : "The request is not valid.";
  return new ServiceError("validation_failed", description, { issues: issues.slice(0, maxIssues) });
}

/** The 404 for everything that does not exist or that the caller may not see. The two cases are indistinguishable. */
export function notFound(): ServiceError {
  return new ServiceError("not_found", "This does not exist, or your credentials do not give access to it.");
}

/** The 503 for a call that finds a queue full. */
export function overloaded(): ServiceError {
  const message = "The service is at capacity. Try again in a second.";
  return new ServiceError("unavailable", message, {}, { "Retry-After": "1" });
}
