import { cookies } from "next/headers";
import { isOperatorToken, operatorCookie } from "@/lib/access/operator-token";
import { env, supabaseProject } from "@/lib/env";

/**
 * Whether this instance has an outbox, and whether the caller may read it. Its links sign users in, so only callers with the
 * link that the start prints may, unless OUTLAY_OUTBOX says otherwise. With a Supabase project there is no outbox.
 */
export async function outboxAccess(): Promise<"none" | "closed" | "open"> {
  const { OUTLAY_OUTBOX } = env();
  const given = (await cookies()).get(operatorCookie)?.value;
  if (supabaseProject() || OUTLAY_OUTBOX === "off") return "none";
  return OUTLAY_OUTBOX === "everyone" || isOperatorToken(given) ? "open" : "closed";
}
