import { poolSizes } from "@/lib/db/pool";
import { env } from "@/lib/env";
import { Turns } from "./turns";

let turns: Turns | undefined;

/**
 * Runs a transaction of the local sign-in on its share of the connections that record: half of them at most. Its other
 * transactions wait here, so that a flood of sign-ins leaves connections to recording. `run` must not call this again.
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
