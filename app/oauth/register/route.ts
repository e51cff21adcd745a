import { registerClient } from "@/lib/access/oauth/clients";
import { defineOAuthRoute } from "@/lib/http/define-oauth-route";

/** Registers clients (RFC 7591). */
export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineOAuthRoute({
  status: 201,
  json: ({ body, address }) => registerClient(body, address),
});
