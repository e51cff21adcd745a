import { poolSizes } from "@/lib/db/pool";
import { env } from "@/lib/env";
import { Semaphore } from "./semaphore";

let semaphore: Semaphore | undefined;

/**
 * Runs a transaction of the local sign-in. At most half of the connections for writing run such transactions at once;
 * further ones wait here, so that a flood of sign-ins leaves connections for recording. Calls must not be nested.
 */
export async function onSignInShare<T>(run: () => Promise<T>): Promise<T> {
  semaphore ??= new Semaphore(
    Math.max(1, Math.floor(poolSizes(env()).writing / 2)),
    Number.POSITIVE_INFINITY,
  );
  await semaphore.acquire();
  try {
    return await run();
  } finally {
    semaphore.release();
  }
}
