import { z } from "zod";
import { AuthProtocolError } from "./protocol";
import type { Pkce } from "./sign-in-queries";

/** Deeper than any data about a user, and far below the depth that Postgres refuses to parse. */
const maxDepth = 16;

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

/** Bodies hold an address, a password and some data about a user, all of which are short. */
const maxBodyBytes = 16 * 1024;
const minPasswordLength = 8;
/** bcrypt ignores everything after 72 bytes. */
const maxPasswordBytes = 72;
/** The most bytes of a user's own data in one request. Every access token, and so every cookie, contains the data. */
const maxMetadataBytes = 2048;

const unstorable = "text may hold neither NUL nor half of a surrogate pair";
const text = z.string().refine(isStorable, unstorable);
const short = text.max(255, "at most 255 characters are allowed");
/** Any text: an invalid address has no account. Addresses are stored and compared in lower case. */
const typedEmail = short.transform((typed) => typed.trim().toLowerCase());
/** What HTML accepts as an address, as Supabase Auth does. */
const email = typedEmail.refine((typed) => typed === "" || z.regexes.html5Email.test(typed), {
  error: "Unable to validate email address: invalid format",
});
const metadata = z
  .record(z.string(), z.unknown())
  .refine(isStorable, unstorable)
  .refine((data) => Buffer.byteLength(JSON.stringify(data)) <= maxMetadataBytes, {
    error: `user data may have at most ${maxMetadataBytes} bytes`,
  })
  .nullish()
  .transform((data) => data ?? {});
const challenge = z
  .string()
  .regex(
    /^[A-Za-z0-9._~-]{43,128}$/,
    "code challenge has to be between 43 and 128 characters: letters, digits, hyphens, periods, underscores and tildes",
  )
  .or(z.literal(""))
  .nullish();
const challengeMethod = z
  .string()
  .toLowerCase()
  .pipe(z.enum(["s256", "plain", ""], { error: "code challenge method has to be s256 or plain" }))
  .nullish();
/** An international number (E.164) as Supabase Auth accepts it, with or without plus and spaces. */
const phone = text
  .transform((typed) => typed.replace(/^\+/, "").replaceAll(" ", ""))
  .refine((typed) => typed === "" || /^[1-9]\d{1,14}$/.test(typed), {
    error: "Invalid phone number format (E.164 required)",
  })
  .nullish();

type PkceBody = {
  code_challenge?: string | null | undefined;
  code_challenge_method?: string | null | undefined;
};

const pkce = { code_challenge: challenge, code_challenge_method: challengeMethod };
const hasBothOrNeither = (body: PkceBody) => !body.code_challenge === !body.code_challenge_method;
const pkceIncomplete = "PKCE flow requires code_challenge_method and code_challenge";

/**
 * The bodies that the Supabase clients send. Unknown members are ignored, as Supabase Auth does. Endpoints check for
 * missing members themselves, because their error texts name the alternatives.
 */
export const bodies = {
  signup: z.object({ email: email.nullish(), phone, password: text.nullish(), data: metadata }),
  password: z.object({ email: typedEmail.nullish(), phone: text.nullish(), password: text.default("") }),
  refresh: z.object({ refresh_token: short.default("") }),
  pkce: z.object({ auth_code: short.nullish(), code_verifier: short.nullish() }),
  updateUser: z
    .object({
      email: email.nullish(),
      phone,
      password: text.nullish(),
      current_password: text.nullish(),
      nonce: short.nullish(),
      data: metadata.optional(),
      app_metadata: z.unknown().optional(),
      ...pkce,
    })
    .refine(hasBothOrNeither, pkceIncomplete),
  recover: z.object({ email: email.nullish(), ...pkce }).refine(hasBothOrNeither, pkceIncomplete),
  otp: z
    .object({
      email: email.nullish(),
      phone,
      create_user: z.boolean().default(true),
      data: metadata,
      ...pkce,
    })
    .refine(hasBothOrNeither, pkceIncomplete),
  resend: z
    .object({ type: z.string().default(""), email: email.nullish(), phone, ...pkce })
    .refine(hasBothOrNeither, pkceIncomplete),
  verify: z.object({
    type: z.string().default(""),
    token_hash: short.default(""),
    token: short.default(""),
    email: email.nullish(),
    phone,
  }),
};

/** A client's PKCE fields as stored. */
export function pkceOf({ code_challenge: challenge, code_challenge_method: method }: PkceBody): Pkce {
  return challenge && method
    ? { challenge, challengeMethod: method }
    : { challenge: null, challengeMethod: null };
}

/**
 * Parses and checks a body.
 *
 * Accepts JSON only: a page of another site can send other content types without a CORS preflight, and could so use up
 * an account's attempts.
 * @throws AuthProtocolError unsupported_media_type, request_entity_too_large, bad_json or validation_failed
 */
export async function readBody<S extends z.ZodType>(request: Request, schema: S): Promise<z.output<S>> {
  const parsed = schema.safeParse(await readJson(request));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const place = issue?.path.join(".") || "the body";
  if (issue?.code === "invalid_type") {
    const message = `Could not parse request body as JSON: ${place} has to be of type ${issue.expected}`;
    throw new AuthProtocolError(400, "bad_json", message);
  }
  const message = issue?.message ?? "The body is not valid.";
  const isSentence = /^[A-Z]/.test(message) || message.startsWith("code challenge");
  throw new AuthProtocolError(400, "validation_failed", isSentence ? message : `${place}: ${message}`);
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
      const message = `Request body too large (max ${maxBodyBytes} bytes)`;
      throw new AuthProtocolError(413, "request_entity_too_large", message);
    }
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString("utf8"));
  } catch {
    throw new AuthProtocolError(400, "bad_json", "Could not parse request body as JSON");
  }
}

/** @throws AuthProtocolError for a password that is too weak, or too long to be stored whole */
export function checkNewPassword(password: string): void {
  if (Buffer.byteLength(password) > maxPasswordBytes) {
    const message = `Password cannot be longer than ${maxPasswordBytes} characters`;
    throw new AuthProtocolError(400, "validation_failed", message);
  }
  if (password.length < minPasswordLength) {
    throw new AuthProtocolError(
      422,
      "weak_password",
      `Password should be at least ${minPasswordLength} characters.`,
      { weak_password: { reasons: ["length"] } },
    );
  }
}
