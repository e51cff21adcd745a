// An OpenID Connect server with the paths of Keycloak, at which anybody signs in by any name: `NAME` has the confirmed address
// `NAME@example.com`, `unconfirmed-NAME` an unconfirmed one, and `nobody-NAME` tells none. Prints its address when it is ready.
import { once } from "node:events";
import { createServer } from "node:http";
import { exportJWK, generateKeyPair } from "jose";
import { Provider } from "oidc-provider";

const server = createServer();
await once(server.listen(0, "127.0.0.1"), "listening");
const issuer = `http://127.0.0.1:${server.address().port}`;
const { privateKey } = await generateKeyPair("RS256", { extractable: true });
const path = (name) => `/protocol/openid-connect/${name}`;

const provider = new Provider(issuer, {
  clients: [
    {
      client_id: "supabase",
      client_secret: process.env.CLIENT_SECRET,
      redirect_uris: ["http://127.0.0.1/auth/v1/callback"],
    },
  ],
  claims: { email: ["email", "email_verified"], profile: ["name"] },
  cookies: { keys: [crypto.randomUUID()] },
  findAccount: (_, accountId) => ({
    accountId,
    claims: () => ({
      sub: accountId,
      name: accountId,
      ...(!accountId.startsWith("nobody-") && {
        email: `${accountId}@example.com`,
        email_verified: !accountId.startsWith("unconfirmed-"),
      }),
    }),
  }),
  jwks: { keys: [{ ...(await exportJWK(privateKey)), use: "sig", alg: "RS256" }] },
  pkce: { required: () => false },
  routes: {
    authorization: path("auth"),
    token: path("token"),
    userinfo: path("userinfo"),
    jwks: path("certs"),
  },
});
// The projects of a run are on ports of their own.
provider.Client.prototype.redirectUriAllowed = (uri) =>
  /^http:\/\/127\.0\.0\.1:\d+\/auth\/v1\/callback$/.test(uri);
server.on("request", provider.callback());
console.log(`ready ${issuer}`);
