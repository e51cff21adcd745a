import { isIP } from "node:net";
import { SignJWT } from "jose";
import { isLoopbackHost, serviceAddress } from "@/lib/service-address";
import { type OpenSession, openSession } from "./queries";
import { signingKey } from "./signing-key";

/** What the issuer of local tokens was before it was an address. */
const formerIssuer = "urn:outlay:local-auth";

/** Who signs the local sign-in's tokens: its address, as with a Supabase project. */
export function localIssuer(): string {
  return `${serviceAddress()}/auth/v1`;
}

/**
 * Whether a token that is signed with this installation's own key names it as its issuer. On this machine any port does,
 * and so does the name it had before: a service that moves or is updated keeps its sessions.
 */
export function isLocalIssuer(issuer: unknown): boolean {
  if (issuer === localIssuer() || issuer === formerIssuer) return true;
  if (typeof issuer !== "string" || !URL.canParse(issuer)) return false;
  const url = new URL(issuer);
  const isLoopback = isLoopbackHost(url.hostname) && isLoopbackHost(new URL(serviceAddress()).hostname);
  return isLoopback && url.pathname === "/auth/v1";
}

/** How long an access token is good. It is not looked up, so it is also how long a sign-out may take to reach the API. */
const accessTokenSeconds = 3600;

/** Where a request comes from, as its session remembers it. */
export type Origin = { userAgent: string | null; address: string | null };

/**
 * Answers one method of one path of the local sign-in.
 * @param params what stands in the path for each `:name` of the endpoint's pattern
 */
export type Answer = (request: Request, origin: Origin, params: Record<string, string>) => Promise<Response>;

/** Reads where a request comes from. @param peer the caller's address, where it is known */
export function originOf(request: Request, peer: string | undefined): Origin {
  return {
    userAgent: request.headers.get("user-agent")?.slice(0, 500) ?? null,
    address: peer !== undefined && isIP(peer) !== 0 ? peer : null,
  };
}

/** Opens a session and answers it as Supabase Auth does. @param method how the user proved who they are */
export async function startSession(userId: string, method: string, origin: Origin) {
  return describeSession(await openSession(userId, method, origin));
}

/** A session as the Supabase clients keep it: a new access token, the refresh token, the user. */
export async function describeSession(session: OpenSession) {
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
