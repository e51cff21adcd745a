import { exportAccount } from "@/lib/access/account/service";
import { accountExport } from "@/lib/contract/access/account";
import { defineRoute, endpoint } from "@/lib/http/define-route";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  GET: endpoint({
    summary: "Export my account",
    description:
      "The data that the service stores about you: profile, ways to sign in, sessions, memberships, connections, and your actions in your workspaces.",
    auth: "user",
    response: accountExport,
    run: ({ principal }) => exportAccount(principal.claims),
  }),
});
