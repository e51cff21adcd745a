import { notFound } from "@/lib/errors";
import type { Handler } from "@/lib/http/define-route";
import { errorResponse, newRequestId } from "@/lib/http/reply";

const refuse: Handler = async () => errorResponse(notFound(), newRequestId());

/** Answers every address under /api that has no route. */
export { refuse as DELETE, refuse as GET, refuse as OPTIONS, refuse as PATCH, refuse as POST, refuse as PUT };
