import { headers } from "next/headers";
import { env, supabaseProject } from "@/lib/env";
import { isFromThisMachine } from "@/lib/http/peer";

/**
 * Whether whoever asks may read the outbox. Its links sign people in, so it is for the person at this machine alone,
 * unless OUTLAY_OUTBOX says otherwise; with a Supabase project there is none.
 */
export async function mayReadOutbox(): Promise<boolean> {
  const { OUTLAY_OUTBOX } = env();
  const asked = await headers();
  if (supabaseProject() || OUTLAY_OUTBOX === "off") return false;
  if (OUTLAY_OUTBOX === "everyone") return true;
  return isFromThisMachine({ headers: new Headers(asked) });
}
