const explanations: Record<string, string> = {
  invalid_credentials: "The e-mail address or the password is wrong.",
  user_already_exists: "There is an account for this address already. Sign in, or reset the password.",
  email_exists: "There is an account for this address already. Sign in, or reset the password.",
  email_not_confirmed: "This address is not confirmed yet. Open the link we sent to it.",
  email_address_invalid: "This is not an e-mail address.",
  current_password_invalid: "The current password is wrong.",
  reauthentication_not_valid: "This code is wrong or has expired. Ask for a new one.",
  current_password_required: "Enter your current password. If you forgot it, ask for a link to reset it.",
  reauthentication_needed: "The link that you opened has expired. Ask for a new one to reset the password.",
  same_password: "This is already your password. Choose another.",
  signup_disabled: "New accounts cannot be made here at the moment.",
  session_not_found: "This link has been used or has expired. Ask for a new one.",
  flow_state_not_found: "This link has been used or has expired. Ask for a new one.",
  mfa_verification_failed: "This code is wrong, or has been used. Wait for the next one, and try that.",
  mfa_challenge_expired: "That took too long. Try again with the code that the app shows now.",
  mfa_factor_name_conflict: "You already have an authenticator with this name. Choose another name.",
  too_many_enrolled_mfa_factors: "Your account has the maximum number of authenticators. Remove one first.",
  mfa_factor_not_found: "This authenticator has been removed meanwhile. Reload the page.",
  insufficient_aal: "Sign out and in again with your code first.",
  otp_expired: "This link has been used or has expired. Ask for a new one.",
};

/** Explains a failed sign-in to the user and says what to do. @param error as supabase-js returns it */
export function explainAuthError(error: {
  name: string;
  code?: string | undefined;
  message: string;
}): string {
  const known = explanations[error.code ?? ""];
  if (known) return known;
  if (error.name === "AuthSessionMissingError") return explanations.session_not_found ?? "";
  const wait = /(\d+) seconds/.exec(error.message)?.[1];
  if (wait) {
    const minutes = Math.ceil(Number(wait) / 60);
    return `Too many attempts. Try again in ${minutes === 1 ? "a minute" : `${minutes} minutes`}.`;
  }
  if (error.code === "over_email_send_rate_limit")
    return "Too many mails were requested. Try again in an hour.";
  if (error.code?.startsWith("over_")) return "Too many attempts. Wait a few minutes, then try again.";
  if (error.name === "AuthWeakPasswordError" || error.code === "validation_failed")
    return `${error.message.replace(/\.$/, "")}.`;
  return "That did not work. Try again in a moment.";
}

const problems: Record<string, string> = {
  browser: "Open the link in the same browser in which you asked for it, or ask for a new one here.",
  link: "This link has been used or has expired. Ask for a new one.",
  "not-offered": "This way of signing in is not offered here. Choose another one.",
  denied: "The other service did not sign you in. Try again, or choose another way.",
  unverified: "Your address is not confirmed at the other service. Confirm it there, then sign in again.",
  "unverified-mailed":
    "Your address is not confirmed at the other service. Open the link that we sent to it, then sign in again.",
  "no-address": "The other service did not tell us your e-mail address. Allow it to, or choose another way.",
  "no-sign-ups": "There is no account for this address, and new accounts cannot be made here at the moment.",
  banned: "This account is blocked. Ask whoever runs this service.",
  "other-browser": "This sign-in began in another browser or window. Begin again here.",
  late: "This sign-in took too long or was already used. Begin again.",
  provider: "The other service could not be asked who you are. Try again in a moment, or choose another way.",
};

/** Explains why a sign-in by a link or another service failed. @param problem the code in the query of the sign-in page */
export function explainProblem(problem: string): string {
  return problems[problem] ?? "That did not work. Try again.";
}
