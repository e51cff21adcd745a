import { createHash } from "node:crypto";
import { generateAccessToken } from "@/lib/access/secrets/access-token";
import { hashSecret } from "@/lib/access/secrets/secret";
import { generateToken } from "@/lib/access/secrets/token";
import { addressQuota, hourMs, throttleFailures, tooMany } from "@/lib/access/throttle";
import { ownResourceOf, toolsResources } from "./addresses";
import { OAuthError } from "./oauth-error";
import {
  type Exchanged,
  loadClient,
  redeemCode,
  revokeToken,
  rotateRefreshToken,
  sweepOauth,
} from "./oauth-queries";

/** The lifetime of an access token in seconds. The database enforces it (`private.issue_tokens`). */
const accessTokenSeconds = 3600;

/**
 * Failed attempts from one address in 15 minutes, over all clients. Wide enough for an office behind one address.
 */
const wrongPerAddress = 100;

/** A pair of tokens (RFC 6749 section 5.1). */
export type TokenAnswer = {
  access_token: string;
  token_type: "Bearer";
  expires_in: number;
  refresh_token: string;
  scope: string;
};

/** The fields of a form, each at most once. */
export type Fields = ReadonlyMap<string, string>;

/**
 * Exchanges a code or a refresh token for a pair of tokens.
 * @param address the caller's, where known
 * @throws OAuthError invalid_grant for a code or token that is used, expired or another client's
 * @throws ServiceError rate_limited for a sign-in that is refreshed in a loop, and for an address that fails too often
 */
export async function exchangeTokens(form: Fields, address: string | undefined): Promise<TokenAnswer> {
  const grantType = required(form, "grant_type");
  if (grantType === "authorization_code") return countingFailures(address, () => exchangeCode(form));
  if (grantType === "refresh_token") return countingFailures(address, () => refresh(form));
  throw new OAuthError("unsupported_grant_type", "grant_type: must be authorization_code or refresh_token.");
}

/**
 * Revokes a token (RFC 7009): an access token alone, a refresh token with everything from the same consent. As the RFC
 * requires, an unknown token or another client's is not an error.
 * @param address the caller's, where known
 * @throws ServiceError rate_limited for an address that fails too often
 */
export async function revokeTokens(form: Fields, address: string | undefined): Promise<void> {
  const token = required(form, "token");
  const clientId = clientIdOf(form);
  await countingFailures(address, async () => {
    if (!(await revokeToken(hashSecret(token), clientId))) throw refuse("unknown");
  }).catch((error: unknown) => {
    if (!(error instanceof OAuthError)) throw error;
  });
}

/** Looks a secret up and counts failures only, so that a client may refresh as often as it needs. */
function countingFailures<T>(address: string | undefined, run: () => Promise<T>): Promise<T> {
  return throttleFailures(
    "wrong codes and tokens",
    addressQuota(address, wrongPerAddress, hourMs / 4),
    (error) => error instanceof OAuthError && ["invalid_grant", "invalid_client"].includes(error.code),
    run,
  );
}

async function exchangeCode(form: Fields): Promise<TokenAnswer> {
  const code = required(form, "code");
  const verifier = required(form, "code_verifier");
  if (!/^[A-Za-z0-9._~-]{43,128}$/.test(verifier)) throw refuse("verifier");
  const pair = makePair();
  const clientId = clientIdOf(form);
  const exchanged = await redeemCode({
    code: hashSecret(code),
    client_id: clientId,
    redirect_uri: form.get("redirect_uri") ?? null,
    code_challenge: challengeOf(verifier),
    resource: resourceOf(form) ?? null,
    ...pair.hashes,
  });
  return answer(exchanged, pair, clientId);
}

async function refresh(form: Fields): Promise<TokenAnswer> {
  const pair = makePair();
  const clientId = clientIdOf(form);
  const resource = resourceOf(form);
  const exchanged = await rotateRefreshToken({
    token: hashSecret(required(form, "refresh_token")),
    client_id: clientId,
    resources: resource ? [resource] : toolsResources(),
    ...pair.hashes,
  });
  return answer(exchanged, pair, clientId);
}

type Pair = { access: string; refresh: string; hashes: { access: string; refresh: string } };

function makePair(): Pair {
  const [access, refresh] = [generateAccessToken(), generateRefreshToken()];
  return { access, refresh, hashes: { access: hashSecret(access), refresh: hashSecret(refresh) } };
}

async function answer(exchanged: Exchanged, pair: Pair, clientId: string): Promise<TokenAnswer> {
  if (exchanged.refused === "rate") throw tooMany("refreshes of one sign-in", exchanged);
  if (exchanged.refused) {
    const isUnknown = exchanged.refused === "unknown" || exchanged.refused === "client";
    // A deleted client needs this error: it then registers again instead of signing in repeatedly.
    if (isUnknown && !(await loadClient(clientId)))
      throw new OAuthError("invalid_client", "This client is not registered here. Register it again.");
    throw refuse(exchanged.refused);
  }
  return {
    access_token: pair.access,
    token_type: "Bearer",
    expires_in: accessTokenSeconds,
    refresh_token: pair.refresh,
    scope: exchanged.permissions.join(" "),
  };
}

type Reason = Exclude<Exchanged["refused"], "rate" | undefined>;

const reasons: Record<Reason, string> = {
  unknown: "This code or token is not known, or its connection was revoked. Sign in again.",
  replayed: "This code was used before. Its tokens are revoked. Sign in again.",
  reused: "This refresh token was used before. Its connection is revoked; sign in again.",
  expired: "This code or token has expired. Sign in again.",
  client: "This code or token belongs to another client.",
  verifier: "code_verifier does not match the code_challenge of this code. Sign in again.",
  redirect: "redirect_uri differs from the one in the authorization request. Sign in again.",
  resource: "This code or token is for another resource. Sign in again.",
  workspace_deleted:
    "The workspace of this connection was deleted. Its owner can undo that for thirty days; the token is valid again then.",
  membership: "The user may not connect to this workspace any more. Sign in again.",
};

function refuse(why: Reason): OAuthError {
  return new OAuthError("invalid_grant", reasons[why]);
}

function required(form: Fields, name: string): string {
  const value = form.get(name);
  if (!value) throw new OAuthError("invalid_request", `${name}: is required.`);
  return value;
}

/** The client that the form names. Clients are public, so the name proves nothing. */
function clientIdOf(form: Fields): string {
  const clientId = form.get("client_id");
  if (clientId) return clientId;
  throw new OAuthError("invalid_client", "client_id: is required in the form; clients have no secret here.");
}

/** @throws OAuthError invalid_target for an address that is not ours */
function resourceOf(form: Fields): string | undefined {
  const named = form.get("resource");
  if (named === undefined) return undefined;
  const resource = ownResourceOf(named);
  if (resource) return resource;
  throw new OAuthError("invalid_target", `resource: must be ${toolsResources().join(" or ")}.`);
}

/** A new refresh token. Only its hash is stored. */
function generateRefreshToken(): string {
  return `svc_rt_${generateToken()}`;
}

/** The PKCE challenge of a verifier (RFC 7636 section 4.2, S256). */
function challengeOf(verifier: string): string {
  return createHash("sha256").update(verifier).digest("base64url");
}

/** The most rows of each kind that one sweep deletes. */
const atMost = 1_000;

/** Deletes codes, tokens, consent requests and clients that can no longer be used. @returns how many rows */
export function sweepTokens(): Promise<number> {
  return sweepOauth(atMost);
}
