import { AuthProtocolError } from "./protocol";
import { requireSession } from "./require-session";

type Refuse = (request: Request) => Promise<Response>;
type Methods = Record<string, Refuse>;

/** Refuses a feature that is not offered, with the code of a Supabase project that has it turned off. */
const refuse =
  (status: number, code: string, message: string): Refuse =>
  async () => {
    throw new AuthProtocolError(status, code, message);
  };

/** Like `refuse`, for signed-in users only. */
const refuseUser =
  (...refusal: [status: number, code: string, message: string]): Refuse =>
  async (request) => {
    await requireSession(request);
    throw new AuthProtocolError(...refusal);
  };

/** The local sign-in has no administrators: only their owners manage accounts. */
const admin = refuseUser(403, "not_admin", "User not allowed");
const saml = refuse(404, "saml_provider_disabled", "SAML 2.0 is disabled");
const linking = refuseUser(404, "manual_linking_disabled", "Manual linking is disabled");
const passkeys = refuse(404, "passkey_disabled", "Passkeys are disabled");
const oauth = refuse(404, "feature_disabled", "OAuth server is disabled");
const provider = refuse(400, "validation_failed", "Unsupported provider: provider is not enabled");
const oauthCallback = refuse(400, "bad_oauth_callback", "OAuth state parameter missing");

const anyMethod = (answer: Refuse): Methods => ({
  GET: answer,
  POST: answer,
  PUT: answer,
  PATCH: answer,
  DELETE: answer,
});

/** What Supabase Auth offers and the local sign-in does not, by path and method. */
export const turnedOff: Record<string, Methods> = {
  authorize: { GET: provider },
  callback: { GET: oauthCallback, POST: oauthCallback },
  invite: { POST: admin },
  sso: { POST: saml },
  "sso/saml/metadata": { GET: saml },
  "sso/saml/acs": { POST: saml },
  "user/identities/authorize": { GET: linking },
  "user/identities/:identity_id": { DELETE: linking },
  "user/oauth/grants": { GET: oauth, DELETE: oauth },
  "passkeys/*": anyMethod(passkeys),
  "oauth/*": anyMethod(oauth),
  "admin/*": anyMethod(admin),
};
