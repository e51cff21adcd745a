/** The cookie with the slug of the workspace whose page this browser opened last. The consent page proposes that workspace. */
export const lastWorkspaceCookie = "outlay_workspace";

const yearS = 31_536_000;

/** Writes the cookie in the form of `document.cookie`. A slug needs no encoding. */
export const writeLastWorkspace = (slug: string, isSecure: boolean): string =>
  `${lastWorkspaceCookie}=${slug}; Path=/; Max-Age=${yearS}; SameSite=Lax${isSecure ? "; Secure" : ""}`;
