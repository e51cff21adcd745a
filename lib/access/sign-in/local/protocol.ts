/** A refusal with one of Supabase Auth's error codes, which its clients understand. */
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

/** The 400 for a body or parameter that is missing or not valid. */
export function invalidRequest(message: string): AuthProtocolError {
  return new AuthProtocolError(400, "validation_failed", message);
}

/**
 * The 400 for a feature of Supabase Auth that the local sign-in lacks, such as phones and other providers.
 * @param what the member or parameter that requests it, such as `phone` or `grant_type=web3`
 */
export function notSupported(what: string): AuthProtocolError {
  return new AuthProtocolError(400, "not_supported", `Not supported by the local sign-in: ${what}.`);
}

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

/** Encodes a refusal. With this version in the header, clients read the error code from `code`. */
export function refusalAnswer({ status, code, message, fields, headers }: AuthProtocolError): Response {
  const version = { "X-Supabase-Api-Version": "2024-01-01" };
  return jsonAnswer({ code, message, ...fields }, status, { ...version, ...headers });
}
