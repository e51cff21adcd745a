import { headers } from "next/headers";
import { env, supabaseProject } from "@/lib/env";
import { isFromThisMachine } from "@/lib/http/peer";

/**
 * Whether the caller may read the outbox. Its links sign users in, so only callers on this machine may read it, unless
 * OUTLAY_OUTBOX says otherwise. With a Supabase project there is no outbox.
 */
export async function mayReadOutbox(): Promise<boolean> {
  const { OUTLAY_OUTBOX } = env();
  const requestHeaders = await headers();
  if (supabaseProject() || OUTLAY_OUTBOX === "off") return false;
  if (OUTLAY_OUTBOX === "everyone") return true;
  return isFromThisMachine({ headers: new Headers(requestHeaders) });
}
