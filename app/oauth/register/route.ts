import { defineOAuthRoute } from "@/lib/http/define-oauth-route";
import { registerClient } from "@/lib/oauth/clients";

/** Registers clients (RFC 7591). */
export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineOAuthRoute({
  status: 201,
  json: ({ body, address }) => registerClient(body, address),
});
