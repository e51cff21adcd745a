import { calculateJwkThumbprint, exportJWK, generateKeyPair, importJWK, type JWK, SignJWT } from "jose";
import { databaseUrls } from "@/lib/db/pool";
import { isLoopbackHost, serviceAddress } from "@/lib/service-address";
import { type OpenSession, storeSigningKey } from "./account-queries";

/**
 * The lifetime of an access token in seconds. Requests do not look their session up, so a sign-out reaches the API
 * after at most this time.
 */
const accessTokenSeconds = 3600;

/** The issuer of local tokens in earlier versions. */
const formerIssuer = "urn:outlay:local-auth";

/** The issuer of the local sign-in's tokens: its address, as for a Supabase project. */
function localIssuer(): string {
  return `${serviceAddress()}/auth/v1`;
}

/**
 * Whether `issuer` names this installation, for a token that is signed with its key. On this machine any port is
 * accepted, and so is the former issuer, so that a service that moves or is updated keeps its sessions.
 */
export function isLocalIssuer(issuer: unknown): boolean {
  if (issuer === localIssuer() || issuer === formerIssuer) return true;
  if (typeof issuer !== "string" || !URL.canParse(issuer)) return false;
  const url = new URL(issuer);
  const isLoopback = isLoopbackHost(url.hostname) && isLoopbackHost(new URL(serviceAddress()).hostname);
  return isLoopback && url.pathname === "/auth/v1";
}

/** A session in the format of the Supabase clients, with a new access token. Times are Unix seconds. */
export async function encodeSession({ user, session_id, refresh_token, aal, amr }: OpenSession) {
  const now = Math.floor(Date.now() / 1000);
  const { kid, privateKey } = await signingKey();
  const { email, app_metadata, user_metadata } = user;
  const claims = { email, app_metadata, user_metadata, role: "authenticated", aal, amr, session_id };
  const accessToken = await new SignJWT(claims)
    .setProtectedHeader({ alg: "ES256", kid, typ: "JWT" })
    .setIssuer(localIssuer())
    .setSubject(user.id)
    .setAudience("authenticated")
    .setIssuedAt(now)
    .setExpirationTime(now + accessTokenSeconds)
    .sign(privateKey);
  return {
    access_token: accessToken,
    token_type: "bearer",
    expires_in: accessTokenSeconds,
    expires_at: now + accessTokenSeconds,
    refresh_token,
    user,
  };
}

/** The key pair that signs access tokens. It is stored in the database, and all processes sign with the same one. */
type SigningKey = {
  kid: string;
  privateKey: CryptoKey;
  /** The public half, as `/.well-known/jwks.json` shows it. */
  publicJwk: JWK;
};

let cached: { url: string; key: Promise<SigningKey> } | undefined;

/** The signing key. It is created when first needed, and cached while this process uses the same database. */
export function signingKey(): Promise<SigningKey> {
  const { url } = databaseUrls();
  if (cached?.url === url) return cached.key;
  const entry = { url, key: loadSigningKey() };
  cached = entry;
  // Does not cache a failure: the database may have been unreachable for a moment.
  entry.key.catch(() => {
    if (cached === entry) cached = undefined;
  });
  return entry.key;
}

async function loadSigningKey(): Promise<SigningKey> {
  const kept = (await storeSigningKey<JWK>(null)) ?? (await storeSigningKey<JWK>(await makeJwk()));
  if (!kept?.kid) throw new Error("The local sign-in has no signing key.");
  const { d: _, ...publicPart } = kept;
  return {
    kid: kept.kid,
    privateKey: (await importJWK(kept, "ES256")) as CryptoKey,
    publicJwk: { ...publicPart, alg: "ES256", use: "sig", key_ops: ["verify"] },
  };
}

async function makeJwk(): Promise<JWK> {
  const { privateKey } = await generateKeyPair("ES256", { extractable: true });
  const jwk = await exportJWK(privateKey);
  return { ...jwk, kid: await calculateJwkThumbprint(jwk) };
}
