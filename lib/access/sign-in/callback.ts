import { providerProblem } from "./providers";
import { redirectTo } from "./redirect-to";
import { sessionOf } from "./request-session";
import { safePath } from "./safe-path";

/**
 * Handles an opened link from a mail, and the return from a provider (`for=provider`): exchanges the code for a session in
 * cookies and redirects to `next`. Only the browser that requested the code has its PKCE verifier.
 *
 * A link that confirms a new mail address (`for=address`) has taken effect before it redirects here, in any browser. The response
 * redirects to the sign-in page, with the state of the change in the query; that page redirects signed-in users to `next`.
 * @param address the caller's, where known
 */
export async function followCallback(request: Request, address?: string): Promise<Response> {
  const query = new URL(request.url).searchParams;
  const [code, next] = [query.get("code"), safePath(query.get("next"))];
  const isOfChange = query.get("for") === "address";
  const isOfProvider = query.get("for") === "provider";
  const fail = (problem: string, setCookies?: string[]) =>
    redirectTo(`/sign-in?${new URLSearchParams({ ...(isOfProvider && { next }), problem })}`, setCookies);
  if (!code) {
    if (isOfProvider) return fail(providerProblem(query));
    if (!isOfChange) return fail("link");
    return redirectTo(withAddressChange(next, query.has("message") ? "half" : "failed"));
  }
  const { client, setCookies } = await sessionOf(request, address);
  const { error } = await client.auth.exchangeCodeForSession(code);
  if (isOfChange) return redirectTo(withAddressChange(next, "done"), setCookies);
  if (!error) return redirectTo(next, setCookies);
  const isOtherBrowser =
    error.name === "AuthPKCECodeVerifierMissingError" || error.code === "bad_code_verifier";
  if (isOfProvider) return fail(isOtherBrowser ? "other-browser" : "late", setCookies);
  return fail(isOtherBrowser ? "browser" : "link", setCookies);
}

/** The state of a change of the mail address after one of its links was opened. `half`: the other link is missing. */
export type AddressChange = "half" | "done" | "failed";

function withAddressChange(path: string, change: AddressChange): string {
  const url = new URL(path, "http://own.invalid");
  url.searchParams.set("address", change);
  const query = new URLSearchParams({ next: url.pathname + url.search + url.hash, address: change });
  return `/sign-in?${query}`;
}
