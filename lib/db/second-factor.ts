import type { UserClaims } from "./transaction";

/** Whether a session has proved a second factor, as its token says; `private.proved_second_factor` asks the same in policies. */
export function provedSecondFactor({ aal }: UserClaims): boolean {
  return aal === "aal2" || aal === "aal3";
}
