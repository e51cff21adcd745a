import { sessionOf } from "./request-session";
import { safePath } from "./safe-path";

/**
 * Answers a link that was opened: exchanges its code for a session in cookies and sends the browser on to `next`. The
 * code is worth something only to the browser that asked for the link, which kept the secret that goes with it.
 * @param address the caller's, where it is known
 */
export async function followCallback(request: Request, address?: string): Promise<Response> {
  const query = new URL(request.url).searchParams;
  const code = query.get("code");
  if (!code) return goTo("/sign-in?problem=link");
  const { client, setCookies } = await sessionOf(request, address);
  const { error } = await client.auth.exchangeCodeForSession(code);
  if (!error) return goTo(safePath(query.get("next")), setCookies);
  const isOtherBrowser =
    error.name === "AuthPKCECodeVerifierMissingError" || error.code === "bad_code_verifier";
  return goTo(`/sign-in?problem=${isOtherBrowser ? "browser" : "link"}`, setCookies);
}

/** A relative redirect: the browser stays on the host name that its session belongs to. */
function goTo(path: string, setCookies: string[] = []): Response {
  const headers = new Headers({
    Location: path,
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
  });
  for (const cookie of setCookies) headers.append("Set-Cookie", cookie);
  return new Response(null, { status: 303, headers });
}
