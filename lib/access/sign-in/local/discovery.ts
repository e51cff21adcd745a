import { jsonAnswer } from "./protocol";
import { localIssuer } from "./session";
import { signingKey } from "./signing-key";

const cached = { "Cache-Control": "public, max-age=600" };

/** GET .well-known/jwks.json: the keys that verify access tokens. */
export async function readKeys(): Promise<Response> {
  const { publicJwk } = await signingKey();
  return jsonAnswer({ keys: [publicJwk] }, 200, cached);
}

/**
 * GET .well-known/openid-configuration (OpenID Connect Discovery 1.0, RFC 8414): the issuer and its keys. The endpoints
 * are those of a Supabase project; the ones that the local sign-in does not offer answer with an error.
 */
export async function readOpenIdConfiguration(): Promise<Response> {
  const issuer = localIssuer();
  const configuration = {
    issuer,
    authorization_endpoint: `${issuer}/oauth/authorize`,
    token_endpoint: `${issuer}/oauth/token`,
    jwks_uri: `${issuer}/.well-known/jwks.json`,
    userinfo_endpoint: `${issuer}/oauth/userinfo`,
    response_types_supported: ["code"],
    response_modes_supported: ["query"],
    grant_types_supported: ["authorization_code", "refresh_token"],
    subject_types_supported: ["public"],
    id_token_signing_alg_values_supported: ["ES256"],
    token_endpoint_auth_methods_supported: ["none"],
    claims_supported: ["sub", "aud", "iss", "exp", "iat", "email"],
    code_challenge_methods_supported: ["S256", "plain"],
  };
  return jsonAnswer(configuration, 200, cached);
}

const providersTurnedOff =
  "anonymous_users apple azure bitbucket discord facebook snapchat figma fly github gitlab google keycloak kakao linkedin linkedin_oidc notion spotify slack slack_oidc workos twitch twitter phone zoom";

/** GET settings: the ways to sign in. */
export async function readSettings(): Promise<Response> {
  const off = Object.fromEntries(providersTurnedOff.split(" ").map((name) => [name, false]));
  return jsonAnswer({
    external: { ...off, email: true },
    disable_signup: false,
    mailer_autoconfirm: true,
    phone_autoconfirm: false,
    sms_provider: "",
    saml_enabled: false,
    saml_private_key_next_configured: false,
    passkeys_enabled: false,
  });
}
