import { handleLocalAuth } from "@/lib/auth/local/handler";
import type { Handler } from "@/lib/http/define-route";
import { callerAddress } from "@/lib/http/peer";

const handle: Handler = (request, context) => handleLocalAuth(request, callerAddress(request, context.peer));

/** The local sign-in, for the Supabase clients; nothing, beside a Supabase project. */
export { handle as GET, handle as POST, handle as PUT };
