import { revokeTokens } from "@/lib/access/oauth/tokens";
import { defineOAuthRoute } from "@/lib/http/define-oauth-route";

/** Revokes tokens (RFC 7009). */
export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineOAuthRoute({
  form: async ({ body, address }) => {
    await revokeTokens(body, address);
    return {};
  },
});
