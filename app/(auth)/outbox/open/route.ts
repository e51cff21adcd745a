import { isOperatorToken, operatorCookie } from "@/lib/access/operator";
import { answerMethods } from "@/lib/http/define-route";
import { serviceAddress } from "@/lib/service-address";

/** The outbox link that the service prints at its start: stores its token in a cookie. A wrong token gets the same 404 as none. */
export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = answerMethods({
  GET: async (request) => {
    const token = new URL(request.url).searchParams.get("token");
    const headers = new Headers({
      Location: "/outbox",
      "Cache-Control": "no-store",
      "Referrer-Policy": "no-referrer",
    });
    if (isOperatorToken(token)) {
      const secure = serviceAddress().startsWith("https:") ? "; Secure" : "";
      headers.set("Set-Cookie", `${operatorCookie}=${token}; Path=/; HttpOnly; SameSite=Lax${secure}`);
    }
    return new Response(null, { status: 303, headers });
  },
});
