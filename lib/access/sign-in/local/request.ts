import { isIP } from "node:net";
import { z } from "zod";
import { bearerToken } from "@/lib/access/credentials";
import { type UserClaims, verifyUserJwt } from "@/lib/access/sign-in/verify-user-jwt";
import { ServiceError } from "@/lib/errors";
import { type AuthUser, readSessionUser } from "./account-queries";
import { AuthProtocolError, invalidRequest, notSupported } from "./protocol";

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

/**
 * The user of a request's access token, read from the database, so that an ended session is refused at once.
 * @throws AuthProtocolError no_authorization, bad_jwt, session_not_found
 */
export async function requireSession(request: Request): Promise<{ user: AuthUser; sessionId: string }> {
  const token = bearerToken(request.headers.get("authorization"));
  if (!token) throw new AuthProtocolError(401, "no_authorization", "Send a user's access token as Bearer.");
  const claims: UserClaims = await verifyUserJwt(token).catch((error: unknown) => {
    if (!(error instanceof ServiceError) || error.status !== 401) throw error;
    throw new AuthProtocolError(403, "bad_jwt", error.message);
  });
  const user = await readSessionUser(claims.session_id, claims.sub);
  if (!user) throw new AuthProtocolError(403, "session_not_found", "This session is over. Sign in again.");
  return { user, sessionId: claims.session_id };
}

/** Bodies hold an address, a password and some data about a user, all of which are short. */
const maxBodyBytes = 16 * 1024;
/** Deeper than any data about a user, and far below the depth that Postgres refuses to parse. */
const maxDepth = 16;
/** The most bytes of a user's own data in one request. Every access token, and so every cookie, contains the data. */
const maxMetadataBytes = 2048;

const tooLong = "may have at most 255 characters";
/** A member of a body: text that is not empty, such as a token or a code. */
export const short = z.string().min(1, "must not be empty").max(255, tooLong);
/** An address as typed: an invalid one has no account. Addresses are stored and compared in lower case. */
export const typedEmail = short.transform((typed) => typed.trim().toLowerCase());
/** What HTML accepts as an address, as Supabase Auth does. */
export const email = typedEmail.refine(
  (typed) => z.regexes.html5Email.test(typed),
  "must be an e-mail address",
);
/** A user's own data. */
export const metadata = z
  .record(z.string(), z.unknown())
  .refine(
    (data) => Buffer.byteLength(JSON.stringify(data)) <= maxMetadataBytes,
    `may have at most ${maxMetadataBytes} bytes`,
  );
/** The fields with which a client asks for PKCE: the link in the mail then gives a code that only this client can exchange. */
export const pkce = {
  code_challenge: z
    .string()
    .regex(/^[\w-]{43}$/, "must be a SHA-256 in base64url")
    .nullish(),
  code_challenge_method: z.literal("s256", "must be s256").nullish(),
};

/** Members that ask for what is not supported. Other unknown members are ignored, as in Supabase Auth. */
const unsupported = ["phone", "app_metadata"];

/**
 * Parses and checks a body.
 *
 * Accepts JSON only: a page of another site can send other content types without a CORS preflight, and could so use up
 * an account's attempts.
 * @throws AuthProtocolError unsupported_media_type, request_entity_too_large, bad_json, not_supported or validation_failed
 */
export async function readBody<S extends z.ZodType>(request: Request, schema: S): Promise<z.output<S>> {
  const body = await readJson(request);
  if (!isStorable(body))
    throw invalidRequest("Text with NUL or half of a surrogate pair and deep nesting are not allowed.");
  const asked = unsupported.find((member) => new Map(Object.entries(body ?? {})).get(member));
  if (asked) throw notSupported(asked);
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw invalidRequest(`${issue?.path.join(".") || "the body"}: ${issue?.message}.`);
}

/**
 * Whether Postgres can store a value: text and jsonb accept neither NUL nor unpaired surrogates, in names or values, and
 * nesting is limited.
 * @param value as `JSON.parse` returns it
 */
export function isStorable(value: unknown, depth = 0): boolean {
  if (typeof value === "string") return value.isWellFormed() && !value.includes("\u0000");
  if (typeof value !== "object" || value === null) return true;
  if (depth >= maxDepth) return false;
  return Object.entries(value).every(([name, member]) => isStorable(name) && isStorable(member, depth + 1));
}

async function readJson(request: Request): Promise<unknown> {
  const type = request.headers.get("content-type") ?? "";
  if (type.split(";", 1)[0]?.trim().toLowerCase() !== "application/json") {
    const message = "Send the body as JSON, with the header `Content-Type: application/json`.";
    throw new AuthProtocolError(415, "unsupported_media_type", message);
  }
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body ?? []) {
    size += chunk.byteLength;
    if (size > maxBodyBytes) {
      const message = `A body may have at most ${maxBodyBytes} bytes.`;
      throw new AuthProtocolError(413, "request_entity_too_large", message);
    }
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString("utf8"));
  } catch {
    throw new AuthProtocolError(400, "bad_json", "The body is not valid JSON.");
  }
}
