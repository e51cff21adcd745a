import { accountQuota, hourMs, throttle } from "@/lib/access/throttle";
import type { Permission } from "@/lib/contract/access/permissions";
import { isLoopbackHost } from "@/lib/service-address";
import { issuerAt, ownResourceOf, resourceAt, toolsResources } from "./addresses";
import { isDocumentAddress } from "./client-document";
import { findClient } from "./clients";
import { OAuthError, type OAuthErrorCode } from "./oauth-error";
import type { Client } from "./oauth-queries";
import { answerTo, isRegisteredRedirect } from "./redirects";
import { parseScope } from "./scopes";

/** A client's authorization request, after all checks. */
export type AuthorizationRequest = {
  client: Client;
  redirectUri: string;
  state: string | null;
  codeChallenge: string;
  resource: string;
  wanted: Permission[];
};

/**
 * A refused request. A program on the user's machine is sent the refusal at once. A redirect to the web is shown to the
 * user first: anybody can register one, and an immediate redirect would make our address an open redirector.
 */
export type RefusedAuthorization = { refusedTo: string; isOnThisMachine: boolean; message: string };

/** The query of a page: a repeated parameter is a list. */
export type PageQuery = Record<string, string | string[] | undefined>;

/** The most documents that the service fetches for one user in an hour. */
const documentsAnHour = 60;

const maxState = 4096;

/**
 * Reads an authorization request, which a client opens in a user's browser.
 *
 * Nothing is fetched and nobody is redirected before the user has signed in. Errors in the client or its redirect are
 * shown to the user and never redirected.
 * @param userId who is signed in
 * @param host the Host header
 * @returns the request, or its error and the redirect that carries it
 * @throws OAuthError, to be shown, where the client or its redirect cannot be trusted
 * @throws ServiceError rate_limited, unavailable
 */
export async function readAuthorizationRequest(
  query: PageQuery,
  userId: string,
  host: string | null,
): Promise<{ request: AuthorizationRequest } | RefusedAuthorization> {
  const clientId = single(query, "client_id");
  const redirectUri = single(query, "redirect_uri");
  if (!clientId) throw new OAuthError("invalid_request", "The link lacks a client_id.");
  if (!redirectUri) throw new OAuthError("invalid_request", "The link lacks a redirect_uri.");
  if (isDocumentAddress(clientId))
    await throttle("new programs", accountQuota(userId, documentsAnHour, hourMs));
  const client = await findClient(clientId);
  if (!isRegisteredRedirect(client.redirect_uris, redirectUri)) {
    throw new OAuthError(
      "invalid_request",
      "The program asks to be redirected to an address that it did not register.",
    );
  }
  try {
    return { request: { client, redirectUri, ...parseRest(query, host) } };
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error;
    const { hostname } = new URL(redirectUri);
    return {
      refusedTo: refusalTo(redirectUri, stateForError(query), error.code, error.message, host),
      isOnThisMachine: isLoopbackHost(hostname),
      message: error.message,
    };
  }
}

/** The client's redirect with an error (RFC 6749 section 4.1.2.1, with the issuer of RFC 9207). */
export function refusalTo(
  redirectUri: string,
  state: string | null,
  code: OAuthErrorCode,
  description: string,
  host: string | null,
): string {
  return answerTo(redirectUri, {
    error: code,
    error_description: description,
    state,
    iss: issuerAt(host),
  });
}

function parseRest(
  query: PageQuery,
  host: string | null,
): Omit<AuthorizationRequest, "client" | "redirectUri"> {
  if (single(query, "response_type") !== "code")
    throw new OAuthError("unsupported_response_type", "response_type: must be code.");
  const mode = single(query, "response_mode");
  if (mode !== undefined && mode !== "query")
    throw new OAuthError("invalid_request", "response_mode: must be query.");
  const codeChallenge = single(query, "code_challenge") ?? "";
  // A request without a method means `plain`, which is not supported (OAuth 2.1 section 4.1.1).
  if (single(query, "code_challenge_method") !== "S256")
    throw new OAuthError("invalid_request", "code_challenge_method: must be S256.");
  if (!/^[A-Za-z0-9_-]{43}$/.test(codeChallenge))
    throw new OAuthError("invalid_request", "code_challenge: must be a SHA-256 in base64url.");
  const state = single(query, "state") ?? null;
  if (state !== null && state.length > maxState)
    throw new OAuthError("invalid_request", `state: must have at most ${maxState} characters.`);
  const scope = single(query, "scope");
  if (single(query, "prompt") === "none")
    throw new OAuthError("consent_required", "The user is asked each time; prompt must not be none.");
  return { state, codeChallenge, resource: parseResource(query, host), wanted: parseScope(scope) };
}

function parseResource(query: PageQuery, host: string | null): string {
  const named = single(query, "resource");
  // Clients of the first MCP authorization drafts send no resource.
  const resource = ownResourceOf(named ?? resourceAt(host));
  if (resource) return resource;
  throw new OAuthError("invalid_target", `resource: must be ${toolsResources().join(" or ")}.`);
}

/** @throws OAuthError invalid_request if a parameter is repeated (RFC 6749 section 3.1) */
function single(query: PageQuery, name: string): string | undefined {
  const value = query[name];
  if (Array.isArray(value)) throw new OAuthError("invalid_request", `${name}: must be given once.`);
  return value || undefined;
}

/** The state to send with an error; null if the state itself is invalid. */
function stateForError(query: PageQuery): string | null {
  const value = query.state;
  return typeof value === "string" && value.length <= maxState ? value : null;
}
