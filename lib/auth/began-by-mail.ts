import { z } from "zod";
import type { UserClaims } from "@/lib/db/transaction";

/** How a session began, as Supabase Auth writes it in the token: what proves that somebody reads the account's mails. */
const methodsByMail = ["recovery", "otp", "magiclink"];

const claimed = z.array(z.looseObject({ method: z.string() })).catch([]);

/** Whether a session began with a link or a code from a mail: its holder may choose a password without knowing the last. */
export function beganByMail({ amr }: UserClaims): boolean {
  return claimed.parse(amr).some(({ method }) => methodsByMail.includes(method));
}
