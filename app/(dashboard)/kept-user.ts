import { redirect } from "next/navigation";
import type { UserClaims } from "@/lib/access/sign-in/verify-user-jwt";
import { readCurrentUser } from "@/lib/access/workspaces/service";
import type { CurrentUser } from "@/lib/contract/access/me";
import { ServiceError } from "@/lib/errors";

/** How the account of a session has ended, by the error of `readCurrentUser`; undefined for other errors. */
export function accountEndOf(error: unknown): "deleted" | "erased" | undefined {
  if (!(error instanceof ServiceError)) return undefined;
  if (error.code === "account_deleted") return "deleted";
  return error.code === "invalid_credentials" ? "erased" : undefined;
}

/** The signed-in user. Redirects a session whose account was deleted or erased to the page that says so. */
export function readKeptUser(claims: UserClaims): Promise<CurrentUser> {
  return readCurrentUser(claims).catch((error: unknown) => {
    if (accountEndOf(error)) redirect("/workspaces/deleted");
    throw error;
  });
}
