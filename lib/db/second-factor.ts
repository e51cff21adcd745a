import type { UserClaims } from "./transaction";

/**
 * Whether a session's token says that it proved a second factor; `private.proved_second_factor` checks the same in
 * policies.
 */
export function provedSecondFactor({ aal }: UserClaims): boolean {
  return aal === "aal2" || aal === "aal3";
}
