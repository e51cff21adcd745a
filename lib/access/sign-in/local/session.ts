import { isIP } from "node:net";
import { SignJWT } from "jose";
import { isLoopbackHost, serviceAddress } from "@/lib/service-address";
import { type OpenSession, openSession } from "./sign-in-queries";
import { signingKey } from "./signing-key";

/** The issuer of local tokens in earlier versions. */
const formerIssuer = "urn:outlay:local-auth";

/** The issuer of the local sign-in's tokens: its address, as for a Supabase project. */
export function localIssuer(): string {
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

/**
 * The lifetime of an access token in seconds. Requests do not look their session up, so a sign-out reaches the API
 * after at most this time.
 */
const accessTokenSeconds = 3600;

/** The user agent and the address of a request, as stored with its session. */
export type Origin = { userAgent: string | null; address: string | null };

/**
 * Answers one method of one path of the local sign-in.
 * @param params the value of each `:name` in the endpoint's pattern
 */
export type Answer = (request: Request, origin: Origin, params: Record<string, string>) => Promise<Response>;

/** Reads a request's origin. @param peer the caller's address, where known */
export function originOf(request: Request, peer: string | undefined): Origin {
  return {
    userAgent: request.headers.get("user-agent")?.slice(0, 500) ?? null,
    address: peer !== undefined && isIP(peer) !== 0 ? peer : null,
  };
}

/** Starts a session. @param method how the user proved their identity. @returns it in Supabase Auth's format */
export async function startSession(userId: string, method: string, origin: Origin) {
  return encodeSession(await openSession(userId, method, origin));
}

/** A session in the format of the Supabase clients, with a new access token. Times are Unix seconds. */
export async function encodeSession(session: OpenSession) {
  const now = Math.floor(Date.now() / 1000);
  const { user } = session;
  const { kid, privateKey } = await signingKey();
  const accessToken = await new SignJWT({
    email: user.email,
    phone: "",
    app_metadata: user.app_metadata,
    user_metadata: user.user_metadata,
    role: "authenticated",
    aal: session.aal,
    amr: session.amr,
    session_id: session.session_id,
    is_anonymous: false,
  })
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
    refresh_token: session.refresh_token,
    user,
  };
}
