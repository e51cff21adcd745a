import { handleLocalAuth } from "@/lib/access/sign-in/local/handler";
import { withDecodedBody } from "@/lib/http/body";
import type { Handler } from "@/lib/http/define-route";
import { errorResponse, newRequestId } from "@/lib/http/reply";
import { callerAddress } from "@/lib/peer";

/** The largest decompressed body in bytes; the sign-in has the same limit. */
const bodyLimit = 16 * 1024;

const handle: Handler = async (request, context) => {
  try {
    const decoded = await withDecodedBody(request, bodyLimit);
    return await handleLocalAuth(decoded, callerAddress(request, context.peer));
  } catch (error) {
    return errorResponse(error, newRequestId());
  }
};

/** The local sign-in, for Supabase clients. With a Supabase project, every path answers 404. */
export { handle as DELETE, handle as GET, handle as OPTIONS, handle as PATCH, handle as POST, handle as PUT };
