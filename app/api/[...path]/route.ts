import { notFound } from "@/lib/errors";
import type { Handler } from "@/lib/http/define-route";
import { errorResponse, newRequestId } from "@/lib/http/reply";

const refuse: Handler = async () => errorResponse(notFound(), newRequestId());

/** Every address under /api that is no route. */
export { refuse as DELETE, refuse as GET, refuse as OPTIONS, refuse as PATCH, refuse as POST, refuse as PUT };
