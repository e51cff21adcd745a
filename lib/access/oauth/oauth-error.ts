/** The error codes of OAuth's endpoints (RFC 6749, 7591, 8707), and their HTTP status when sent as JSON. */
const statusOf = {
  invalid_request: 400,
  invalid_client: 401,
  invalid_grant: 400,
  invalid_target: 400,
  unsupported_grant_type: 400,
  unsupported_response_type: 400,
  invalid_redirect_uri: 400,
  invalid_client_metadata: 400,
} as const;

export type OAuthErrorCode = keyof typeof statusOf | "access_denied" | "consent_required";

/** An OAuth error. Its description is sent to the client: ASCII without quotes and backslashes (RFC 6749 section 5.2). */
export class OAuthError extends Error {
  override name = "OAuthError";
  readonly status: number;

  constructor(
    readonly code: OAuthErrorCode,
    description: string,
  ) {
    super(description);
    this.status = statusOf[code as keyof typeof statusOf] ?? 400;
  }
}
