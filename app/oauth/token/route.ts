import { exchangeTokens } from "@/lib/access/oauth/tokens";
import { defineOAuthRoute } from "@/lib/http/define-oauth-route";

/** Exchanges codes and refresh tokens for tokens (RFC 6749 section 3.2). */
export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineOAuthRoute({
  form: ({ body, address }) => exchangeTokens(body, address),
});
