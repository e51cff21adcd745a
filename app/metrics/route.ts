import { requireMetricsReader } from "@/lib/access/operator";
import { answerMethods } from "@/lib/http/define-route";
import { errorResponse, newRequestId } from "@/lib/http/reply";
import { renderMetrics } from "@/lib/metrics";

// Not part of the API: what monitors the service reads, in Prometheus' text format.
export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = answerMethods({
  GET: async (request) => {
    try {
      requireMetricsReader(request.headers.get("authorization"));
      const { text, contentType } = await renderMetrics();
      return new Response(text, { headers: { "Content-Type": contentType, "Cache-Control": "no-store" } });
    } catch (error) {
      return errorResponse(error, newRequestId());
    }
  },
});
