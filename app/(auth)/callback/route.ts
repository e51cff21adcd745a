import { followCallback } from "@/lib/access/sign-in/callback";
import { answerMethods } from "@/lib/http/define-route";
import { callerAddress } from "@/lib/peer";

/** The target of links in mails: exchanges their code for a session. */
export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = answerMethods({
  GET: (request, context) => followCallback(request, callerAddress(request, context.peer)),
});
