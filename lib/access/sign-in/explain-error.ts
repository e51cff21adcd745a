const explanations: Record<string, string> = {
  invalid_credentials: "This is not the right password for this address, or there is no account for it.",
  user_already_exists: "There is an account for this address already. Sign in, or reset the password.",
  email_exists: "There is an account for this address already. Sign in, or reset the password.",
  email_not_confirmed: "This address is not confirmed yet. Open the link we sent to it.",
  email_address_invalid: "This is not an e-mail address.",
  current_password_invalid: "This is not the password you have.",
  reauthentication_not_valid: "This is not the code we sent last, or it is too old. Ask for a new one.",
  current_password_required:
    "This needs the password you have. If you forgot it, ask for a link to reset it.",
  reauthentication_needed: "The link you came by is too old by now. Ask for a new one to reset the password.",
  same_password: "This is the password you have. Choose another.",
  signup_disabled: "New accounts cannot be made here at the moment.",
  session_not_found: "This link has been used or is too old. Ask for a new one.",
  flow_state_not_found: "This link has been used or is too old. Ask for a new one.",
  mfa_verification_failed: "This code is wrong, or has been used. Wait for the next one, and try that.",
  mfa_challenge_expired: "That took too long. Try again with the code that the app shows now.",
  mfa_factor_name_conflict: "You have one of this name already. Choose another name.",
  too_many_enrolled_mfa_factors: "You have as many as one account may. Remove one first.",
  mfa_factor_not_found: "This authenticator has been removed meanwhile. Reload the page.",
  insufficient_aal: "Sign out and in again with your code first.",
  otp_expired: "This link has been used or is too old. Ask for a new one.",
};

/** Explains a failed sign-in to the user, and what to do about it. @param error as supabase-js returns it */
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
    return `That was tried too often. Try again in ${minutes === 1 ? "a minute" : `${minutes} minutes`}.`;
  }
  if (error.code === "over_email_send_rate_limit")
    return "Too many mails were asked for, so no more are sent for now. Try again in an hour.";
  if (error.code?.startsWith("over_")) return "That was tried too often. Wait a few minutes, then try again.";
  if (error.name === "AuthWeakPasswordError" || error.code === "validation_failed")
    return `${error.message.replace(/\.$/, "")}.`;
  return "That did not work. Try again in a moment.";
}
