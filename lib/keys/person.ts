import { callFunction } from "@/lib/db/query";
import { asKey, type UserClaims } from "@/lib/db/transaction";
import { ServiceError } from "@/lib/errors";
import type { KeyPrincipal } from "./identify";

/** The member for whom a program acts: their claims for row-level security, and the slug of the workspace. */
export type Person = { claims: UserClaims; slug: string };

type PersonRow = { id: string; email: string; slug: string };

/**
 * Finds the member for whom an admitted key acts: who connected the program, or who created the key. Changes with these claims are
 * permitted and audited as if that member made them, by their present role. The key's own permission must have been checked.
 *
 * The claims say that a second factor was proved, which a workspace may require, because the member proved it when they connected the
 * program.
 * @param address of the caller, for the audit log
 * @throws ServiceError permission_denied if the key is limited to some projects or users or to test data, or its person is no longer a
 *   member
 */
export async function personOf({ key, claims }: KeyPrincipal, address: string | undefined): Promise<Person> {
  const { allow, deny, users, environment } = claims;
  if (allow !== null || deny.length > 0 || users !== undefined || environment !== "live") {
    throw new ServiceError(
      "permission_denied",
      "Alerts are about all live spend of the workspace, and this key is limited to some projects or users, or to test data.",
    );
  }
  const person = await asKey(claims, (client) =>
    callFunction<PersonRow | null>(client, "private.person_of_key"),
  );
  if (!person) {
    throw new ServiceError(
      "permission_denied",
      "This key belongs to no member of the workspace, so alerts are not read or changed with it. A member can connect the program.",
    );
  }
  const { id, email, slug } = person;
  return {
    claims: {
      sub: id,
      email,
      role: "authenticated",
      session_id: key.id,
      aal: "aal2",
      caller_address: address,
    },
    slug,
  };
}
