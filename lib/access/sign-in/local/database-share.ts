import { poolSizes } from "@/lib/db/pool";
import { env } from "@/lib/env";
import { Turns } from "./turns";

let turns: Turns | undefined;

/**
 * Runs a transaction of the local sign-in. At most half of the connections for writing run such transactions at once;
 * further ones wait here, so that a flood of sign-ins leaves connections for recording. Calls must not be nested.
 */
export async function onSignInShare<T>(run: () => Promise<T>): Promise<T> {
  turns ??= new Turns(Math.max(1, Math.floor(poolSizes(env()).writing / 2)), Number.POSITIVE_INFINITY);
  await turns.enter();
  try {
    return await run();
  } finally {
    turns.leave();
  }
}
