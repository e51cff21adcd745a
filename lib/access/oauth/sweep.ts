import { sweepOauth } from "./oauth-queries";

/** The most rows of each kind that one sweep deletes. */
const atMost = 1_000;

/** Deletes codes, tokens, consent requests and clients that can no longer be used. @returns how many rows */
export function sweepTokens(): Promise<number> {
  return sweepOauth(atMost);
}
