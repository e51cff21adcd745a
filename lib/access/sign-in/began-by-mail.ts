import { z } from "zod";
import type { UserClaims } from "@/lib/db/transaction";

/** The methods in Supabase Auth's tokens which prove that the user received a mail of the account. */
const methodsByMail = ["recovery", "otp", "magiclink"];
/** The lifetime of links in mails, and of what a session proved. */
export const recentSeconds = 60 * 60;

/** How and when a session's user proved who they are, as Supabase Auth writes it into tokens: Unix time in seconds. */
export const proofs = z.array(z.looseObject({ method: z.string(), timestamp: z.number() })).catch([]);

/**
 * Whether a session began within the last hour with a link or a code from a mail. Its user may then set a password
 * without the present one. The local sign-in enforces the same rule for every caller.
 */
export function beganByRecentMail({ amr }: UserClaims): boolean {
  const since = Date.now() / 1000 - recentSeconds;
  return proofs
    .parse(amr)
    .some(({ method, timestamp }) => methodsByMail.includes(method) && timestamp > since);
}
