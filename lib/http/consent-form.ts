import { decideConsent } from "@/lib/access/oauth/consent";
import { authenticateUser } from "@/lib/access/sign-in/authenticate";
import { callerAddress } from "@/lib/peer";
import { readFormBody } from "./body";
import type { Handler } from "./define-route";
import { errorResponse, newRequestId } from "./reply";

const bodyLimit = 16 * 1024;

/**
 * Handles the consent page's form. It is a plain form, because the answer is a redirect to another program, and because
 * it must work before the page's scripts have loaded. The session cookie counts only for forms of our own pages.
 */
export const answerConsentForm: Handler = async (request, context) => {
  const requestId = newRequestId();
  const setCookies: string[] = [];
  try {
    const principal = await authenticateUser(request, callerAddress(request, context.peer), setCookies);
    const form = await readFormBody(request, bodyLimit);
    const decided = await decideConsent(principal.claims, form, request.headers.get("host"));
    return goTo(
      "location" in decided ? decided.location : `/oauth/problem?why=${decided.problem}`,
      setCookies,
    );
  } catch (error) {
    return errorResponse(error, requestId);
  }
};

function goTo(location: string, setCookies: string[]): Response {
  const headers = new Headers({
    Location: location,
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
  });
  for (const cookie of setCookies) headers.append("Set-Cookie", cookie);
  return new Response(null, { status: 303, headers });
}
