import { createLocalJWKSet, createRemoteJWKSet, decodeProtectedHeader, errors, jwtVerify } from "jose";
import { z } from "zod";
import type { UserClaims } from "@/lib/db/transaction";
import { env, supabaseProject } from "@/lib/env";
import { ServiceError } from "@/lib/errors";
import { isLocalIssuer, signingKey } from "./local/access-token";
import { providerUnavailable } from "./provider-unavailable";

export type { UserClaims } from "@/lib/db/transaction";

/** The claims that a user's access token needs besides a valid signature, time and audience. */
const claimsSchema = z.looseObject({
  sub: z.uuid(),
  role: z.literal("authenticated"),
  session_id: z.uuid(),
  email: z.string().default(""),
});

/**
 * Verifies a user's access token without asking the identity provider: signature, issuer, audience and times. The
 * provider's public keys are fetched once and cached, and asked for twice if the first request fails.
 *
 * The configuration, never the token, decides which algorithms are accepted, so that a key of one kind cannot be used as
 * another.
 * @param callerAddress the request's address, kept with the claims for the audit log
 * @throws ServiceError invalid_credentials with the reason; unavailable if the keys cannot be fetched
 */
export async function verifyUserJwt(token: string, callerAddress?: string): Promise<UserClaims> {
  const algorithm = algorithmOf(token);
  try {
    const { key, algorithms, issuer } = await trustFor(algorithm);
    const verify = () =>
      jwtVerify(token, key, {
        algorithms,
        ...(issuer !== undefined && { issuer }),
        audience: "authenticated",
        requiredClaims: ["exp", "sub"],
        clockTolerance: 5,
      });
    const { payload } = await verify().catch((error: unknown) => {
      if (isProvidersFault(error)) return verify();
      throw error;
    });
    if (issuer === undefined && !isLocalIssuer(payload.iss))
      throw refuseToken("was not issued by this service's identity provider");
    const claims = claimsSchema.safeParse(payload);
    if (!claims.success) throw refuseToken("is not a user's");
    return { ...claims.data, caller_address: callerAddress };
  } catch (error) {
    throw refusalOf(error);
  }
}

/** The 401 of a user route. @param description which credential is needed */
export function refuseUser(
  code: "missing_credentials" | "invalid_credentials",
  description: string,
): ServiceError {
  const detail =
    code === "missing_credentials"
      ? ""
      : `, error="invalid_token", error_description="${description.replace(/["\\]/g, "'")}"`;
  return new ServiceError(code, description, {}, { "WWW-Authenticate": `Bearer realm="outlay"${detail}` });
}

type KeySet = ReturnType<typeof createLocalJWKSet> | ReturnType<typeof createRemoteJWKSet>;
/** `issuer` is undefined for the local sign-in, which may have had another address when it signed. */
type Trust = { key: KeySet | (() => Promise<Uint8Array>); algorithms: string[]; issuer?: string };

/**
 * How long a request for the provider's keys may take. Its time also runs out while this process is busy, for example with loading its
 * first page, although the answer has arrived.
 */
const keysLimitMs = 2_500;

let remote: { issuer: string; keys: KeySet } | undefined;

async function trustFor(algorithm: string | undefined): Promise<Trust> {
  const project = supabaseProject();
  if (!project) {
    const { publicJwk } = await signingKey();
    return { key: createLocalJWKSet({ keys: [publicJwk] }), algorithms: ["ES256"] };
  }
  const issuer = `${project.url}/auth/v1`;
  const { SUPABASE_JWT_SECRET } = env();
  // Accepts tokens signed with a shared secret only if the configured project has one.
  if (SUPABASE_JWT_SECRET && algorithm === "HS256") {
    const secret = new TextEncoder().encode(SUPABASE_JWT_SECRET);
    return { key: async () => secret, algorithms: ["HS256"], issuer };
  }
  if (remote?.issuer !== issuer) {
    const url = new URL(`${issuer}/.well-known/jwks.json`);
    remote = { issuer, keys: createRemoteJWKSet(url, { timeoutDuration: keysLimitMs }) };
  }
  return { key: remote.keys, algorithms: ["ES256", "RS256", "EdDSA"], issuer };
}

function algorithmOf(token: string): string | undefined {
  try {
    return decodeProtectedHeader(token).alg;
  } catch {
    throw refuseToken("is not well-formed");
  }
}

function refuseToken(what: string): ServiceError {
  return refuseUser("invalid_credentials", `This access token ${what}. Sign in again.`);
}

function refusalOf(error: unknown): Error {
  if (error instanceof ServiceError) return error;
  if (error instanceof errors.JWTExpired) return refuseToken("has expired");
  if (error instanceof errors.JWTClaimValidationFailed) {
    if (error.claim === "iss") return refuseToken("was not issued by this service's identity provider");
    if (error.claim === "aud") return refuseToken("is for another audience");
    return refuseToken(`lacks a valid "${error.claim}"`);
  }
  if (error instanceof errors.JOSEAlgNotAllowed)
    return refuseToken("is signed with an algorithm that is not accepted");
  if (error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWSSignatureVerificationFailed)
    return refuseToken("is not signed by this service's identity provider");
  if (isProvidersFault(error)) return providerUnavailable(error);
  return refuseToken("is not well-formed");
}

/** Whether the keys could not be fetched or read. Such a fault must not be a 401, which would sign users out. */
function isProvidersFault(error: unknown): boolean {
  if (!(error instanceof errors.JOSEError)) return true;
  return (
    error instanceof errors.JWKSTimeout ||
    error instanceof errors.JWKSInvalid ||
    error.code === "ERR_JOSE_GENERIC"
  );
}
