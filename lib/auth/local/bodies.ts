import { z } from "zod";
import { AuthProtocolError } from "./protocol";

/** A body holds an address, a password and some words about a user; none of them is long. */
const maxBodyBytes = 16 * 1024;
const minPasswordLength = 8;
/** bcrypt reads no further; a longer password would be cut without a word. */
const maxPasswordBytes = 72;

const storable = z.string().refine((text) => text.isWellFormed() && !text.includes("\u0000"));
/** Addresses are kept and compared in lower case. */
const email = storable
  .max(255)
  .transform((text) => text.trim().toLowerCase())
  .pipe(z.email());
const metadata = z
  .record(storable, z.unknown())
  .refine((data) => {
    const text = JSON.stringify(data);
    // It travels in every access token, and so in every cookie.
    return text.length <= 2048 && text.isWellFormed() && !text.includes("\\u0000");
  }, "user data may have at most 2048 characters")
  .nullish()
  .transform((data) => data ?? {});
const pkce = {
  code_challenge: z
    .string()
    .regex(/^[A-Za-z0-9._~-]{43,128}$/)
    .nullish(),
  code_challenge_method: z
    .string()
    .toLowerCase()
    .pipe(z.enum(["s256", "plain"]))
    .nullish(),
};

/** The bodies of the requests that the Supabase clients send. Members we do not use are ignored, as the original does. */
export const bodies = {
  signup: z.object({ email: email.optional(), password: storable.optional(), data: metadata }),
  password: z.object({ email, password: storable }),
  refresh: z.object({ refresh_token: z.string().min(1).max(255) }),
  pkce: z.object({ auth_code: z.string().min(1).max(255), code_verifier: z.string().min(1).max(255) }),
  updateUser: z.object({
    email: email.optional(),
    password: storable.optional(),
    data: metadata.optional(),
  }),
  recover: z.object({ email, ...pkce }),
  otp: z.object({ email, create_user: z.boolean().default(true), data: metadata, ...pkce }),
  resend: z.object({ type: z.string(), email }),
  verify: z.object({
    type: z.string(),
    token_hash: z.string().max(255).optional(),
    token: z.string().max(255).optional(),
    email: email.optional(),
  }),
};

/** Reads and checks a body. @throws AuthProtocolError bad_json, validation_failed or request_too_large */
export async function readBody<S extends z.ZodType>(request: Request, schema: S): Promise<z.output<S>> {
  const parsed = schema.safeParse(await readJson(request));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const place = issue?.path.join(".");
  const message =
    place === "email"
      ? "Unable to validate email address: invalid format"
      : `${place ? `${place}: ` : ""}${issue?.message ?? "The body is not valid."}`;
  throw new AuthProtocolError(400, "validation_failed", message);
}

async function readJson(request: Request): Promise<unknown> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body ?? []) {
    size += chunk.byteLength;
    if (size > maxBodyBytes)
      throw new AuthProtocolError(413, "request_too_large", `A body may have at most ${maxBodyBytes} bytes.`);
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString("utf8"));
  } catch {
    throw new AuthProtocolError(400, "bad_json", "Could not parse request body as JSON");
  }
}

/** @throws AuthProtocolError for a password that nobody should choose, or that could not be kept whole */
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
