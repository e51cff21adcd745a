"use client";

import { DeleteButton, type Proof } from "@/components/deletion/delete-dialog";
import { callApi } from "@/components/requests/api";
import { Link } from "@/components/ui/link";
import type { deleteAccountRequest, deletedAccount } from "@/lib/contract/access/account";

type Props = {
  email: string;
  /** Workspaces with other members whose only owner is the user. They prevent deleting the account. */
  blocking: { slug: string; name: string }[];
  proof: Proof;
  /** Ends the sessions of the page, and opens the sign-in page. */
  signOut: () => Promise<void>;
};

/** Deletes the user's account, confirmed by its address and a proof of identity. Lists the workspaces that prevent it, with links. */
export function DeleteAccount({ email, blocking, proof, signOut }: Props) {
  if (blocking.length > 0) {
    return (
      <div className="grid gap-2 text-sm">
        <p>
          You are the only owner of workspaces with other members. Transfer the ownership of each, or delete
          it, first:
        </p>
        <ul className="grid gap-1">
          {blocking.map(({ slug, name }) => (
            <li key={slug}>
              <Link href={`/${slug}/settings`} className="break-words underline underline-offset-4">
                {name}
              </Link>
            </li>
          ))}
        </ul>
      </div>
    );
  }
  const remove = async (typed: string) => {
    await callApi<typeof deletedAccount, typeof deleteAccountRequest>("POST", "/api/v1/me/deletion", {
      email: typed,
    });
    await signOut();
  };
  return (
    <DeleteButton
      label="Delete account"
      title="Delete your account?"
      expected={email}
      expectedLabel="Your e-mail address"
      proof={proof}
      onDelete={remove}
    >
      You are signed out everywhere, your assistants are disconnected, and workspaces that only you are in are
      deleted with it. Sign in within thirty days to undo this. Then your name and address are erased; what
      you recorded stays in the figures of your teams, under a pseudonym.
    </DeleteButton>
  );
}
