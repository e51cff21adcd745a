import { deleteAccount } from "@/lib/access/account/service";
import { deleteAccountRequest, deletedAccount } from "@/lib/contract/access/account";
import { defineRoute, endpoint } from "@/lib/http/define-route";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  POST: endpoint({
    summary: "Delete my account",
    description:
      "For a session that signed in within the last hour. Your sessions and connections end, and the workspaces that only you are in are deleted with the account. Sign in and open Outlay (or call GET /api/v1/me) within thirty days to undo it; then your identity is erased. What you recorded stays under a pseudonym. A `conflict` lists in `workspaces` those with other members that you alone own: transfer or delete them first.",
    auth: "user",
    body: deleteAccountRequest,
    response: deletedAccount,
    errors: ["account_deleted", "recent_sign_in_required", "conflict"],
    run: ({ principal, body }) => deleteAccount(principal.claims, body),
  }),
});
