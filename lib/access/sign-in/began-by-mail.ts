import { z } from "zod";
import type { UserClaims } from "@/lib/db/transaction";

/** How a session began, as Supabase Auth writes it in the token: what proves that somebody reads the account's mails. */
const methodsByMail = ["recovery", "otp", "magiclink"];
/** As long as the links of mails are good. */
const recentSeconds = 60 * 60;

const claimed = z.array(z.looseObject({ method: z.string(), timestamp: z.number() })).catch([]);

/**
 * Whether a session began within the last hour with a link or a code from a mail: its holder may choose a password
 * without knowing the last. The local sign-in holds to the same, whatever a page shows.
 */
export function beganByRecentMail({ amr }: UserClaims): boolean {
  const since = Date.now() / 1000 - recentSeconds;
  return claimed
    .parse(amr)
    .some(({ method, timestamp }) => methodsByMail.includes(method) && timestamp > since);
}
