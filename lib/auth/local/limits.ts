import { ServiceError } from "@/lib/errors";
import { accountQuota, addressQuota, hourMs, type Quota, throttle } from "@/lib/throttle/service";
import { AuthProtocolError } from "./protocol";
import type { Origin } from "./session";

const quarterMs = hourMs / 4;

/**
 * How often one address, and one account, may do what costs a password hash, a mail or an account. Wide enough for an
 * office or a school behind one address; the narrow limits that end guessing are the lockouts beside them.
 */
const limits = {
  "sign-ups": { perAddress: [100, hourMs], perAccount: [10, hourMs] },
  "sign-ins": { perAddress: [200, quarterMs], perAccount: [60, quarterMs] },
  "mails asked for": { perAddress: [60, hourMs] },
  "codes tried": { perAddress: [60, quarterMs] },
  "sessions renewed": { perAddress: [2000, quarterMs] },
} as const satisfies Record<string, { perAddress: Rate; perAccount?: Rate }>;

type Rate = readonly [limit: number, windowMs: number];

/**
 * Counts an attempt before it is made, and alike for addresses with and without an account: a limit tells nothing.
 * @param email of the account it is about, in lower case, where the request names one
 * @throws AuthProtocolError over_request_rate_limit, which the clients know, with an exact Retry-After
 */
export async function limitAttempts(
  action: keyof typeof limits,
  { address }: Origin,
  email?: string,
): Promise<void> {
  const { perAddress, perAccount }: { perAddress: Rate; perAccount?: Rate } = limits[action];
  const quotas: Quota[] = addressQuota(address ?? undefined, ...perAddress);
  if (perAccount && email !== undefined) quotas.push(...accountQuota(email, ...perAccount));
  try {
    await throttle(action, quotas);
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== "rate_limited") throw error;
    const message = `For security purposes, you can only request this after ${error.fields.retry_after_seconds} seconds.`;
    throw new AuthProtocolError(429, "over_request_rate_limit", message, {}, error.headers);
  }
}
