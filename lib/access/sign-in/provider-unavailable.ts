import { ServiceError } from "@/lib/errors";

/** The 503 for an identity provider that cannot be reached. A 401 would sign users out during an outage. */
export function providerUnavailable(cause: unknown): ServiceError {
  const error = new ServiceError(
    "unavailable",
    "The identity provider cannot be reached at the moment. Try again shortly.",
    {},
    { "Retry-After": "1" },
  );
  error.cause = cause;
  return error;
}
