/** A refusal with one of Supabase Auth's error codes, which the clients understand. */
export class AuthProtocolError extends Error {
  override name = "AuthProtocolError";

  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly fields: Record<string, unknown> = {},
    readonly headers: Record<string, string> = {},
  ) {
    super(message);
  }
}

/** The 400 for missing or excess members. */
export function invalidRequest(message: string): AuthProtocolError {
  return new AuthProtocolError(400, "validation_failed", message);
}

const versionHeader = "X-Supabase-Api-Version";
const codedErrorsSince = "2024-01-01";

/** Answers JSON that must not be cached. */
export function jsonAnswer(body: unknown, status = 200, headers: Record<string, string> = {}): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: {
      "Content-Type": "application/json; charset=utf-8",
      "Cache-Control": "no-store",
      ...headers,
    },
  });
}

/**
 * Encodes a refusal for the API version of the client: since 2024-01-01 `code` is the error code, before it was the
 * status.
 */
export function refusalAnswer(request: Request, refusal: AuthProtocolError): Response {
  const { status, code, message, fields } = refusal;
  const coded = (request.headers.get(versionHeader) ?? "") >= codedErrorsSince;
  const body = coded
    ? { code, message, ...fields }
    : { code: status, error_code: code, msg: message, ...fields };
  return jsonAnswer(body, status, {
    "X-Sb-Error-Code": code,
    ...(coded && { [versionHeader]: codedErrorsSince }),
    ...refusal.headers,
  });
}
