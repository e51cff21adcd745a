import { notFound } from "@/lib/errors";
import { type Handler, methods } from "@/lib/http/define-route";
import { errorResponse, newRequestId } from "@/lib/http/reply";

const refuse: Handler = async () => errorResponse(notFound(), newRequestId());

/** Every address under /api that is no route. */
export const { GET, POST, PUT, PATCH, DELETE } = Object.fromEntries(
  methods.map((method) => [method, refuse]),
) as Record<(typeof methods)[number], Handler>;
