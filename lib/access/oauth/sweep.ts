import { sweepOauth } from "./queries";

/** Rows of each kind that one sweep takes. */
const atMost = 1_000;

/** Forgets codes, tokens, questions and clients that can no longer be used. @returns how many */
export function sweepTokens(): Promise<number> {
  return sweepOauth(atMost);
}
