const noRecoveryCodes = "This version of Supabase Auth has no recovery codes.";
const localTokens = "It signs a token with the key of the local sign-in, as nobody can with a project's.";
const ofAccounts = "tests/api/workspaces/delete-accounts.test.ts";
const ofWorkspaces = "tests/api/workspaces/delete-workspaces.test.ts";

/**
 * Why tests cannot run where a Supabase project signs people in, by the file and the title of the test.
 * @type {Record<string, string>}
 */
export const unfit = {
  [`${ofAccounts} > Ends its sessions, connections and rights at once, and deletes the workspaces that only it is in`]:
    "The page that the account is deleted on ends a project's sessions; tests/e2e/deletion.spec.ts tries that.",
  [`${ofAccounts} > Is not answered with success where its sessions could not be ended`]:
    "The page that the account is deleted on ends a project's sessions.",
  [`${ofAccounts} > Needs the address, and a session that proved within the last hour who its user is`]:
    localTokens,
  [`${ofWorkspaces} > Needs a session that proved within the last hour who its user is, in the service and in the database`]:
    localTokens,
  [`${ofWorkspaces} > Needs the second factor where the workspace requires it, and so does the undo`]:
    localTokens,
  [`${ofAccounts} > Erases the identity, and keeps what was recorded under nobody's name`]:
    "Supabase Auth's own log (auth.audit_log_entries) keeps the address.",
  "tests/auth/supabase-js.test.ts > Uses any address that HTML accepts: a..b@example.com":
    "The mail server of the run refuses this address.",
  "tests/auth/supabase-js.test.ts > Signs in once by a password link, which ends earlier sessions":
    "Supabase Auth puts the error of a link without PKCE into the fragment of the address only.",
  "tests/auth/supabase-js.test.ts > To an unknown address is answered alike, has no link and makes no unwanted account":
    "Supabase Auth tells that there is no account (otp_disabled).",
  "tests/e2e/account.spec.ts > Changes a password by a mailed code without the present one":
    "A project that requires the present password takes no code in its place.",
  "tests/e2e/second-factor.spec.ts > Asks for the code of an authenticator at sign-in, or once for a recovery code, until it is removed":
    noRecoveryCodes,
  "tests/e2e/second-factor.spec.ts > Makes members of a workspace set up a second factor, admins first":
    noRecoveryCodes,
};
