import { cookies } from "next/headers";
import { operatorCookie } from "@/lib/access/operator";
import { outboxAccess } from "@/lib/access/sign-in/local/outbox";

/** Whether this instance has an outbox, and whether the caller of the page may read it. */
export async function callerOutboxAccess() {
  return outboxAccess((await cookies()).get(operatorCookie)?.value);
}
