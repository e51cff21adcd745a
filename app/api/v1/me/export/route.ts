import { exportAccount } from "@/lib/access/account/export";
import { accountExport } from "@/lib/contract/access/account";
import { defineRoute, endpoint } from "@/lib/http/define-route";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  GET: endpoint({
    summary: "Export my account",
    description:
      "What the service keeps of you: profile, ways to sign in, sessions, memberships, connections, and what you did in your workspaces.",
    auth: "user",
    response: accountExport,
    run: ({ principal }) => exportAccount(principal.claims),
  }),
});
