import { beginProviderSignIn } from "@/lib/access/sign-in/providers";
import { answerMethods } from "@/lib/http/define-route";
import { callerAddress } from "@/lib/peer";

/** Begins a sign-in with another service, such as GitHub. */
export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = answerMethods({
  GET: (request, context) => beginProviderSignIn(request, callerAddress(request, context.peer)),
});
