import { requireMetricsReader } from "@/lib/access/operator";
import { answerMethods } from "@/lib/http/define-route";
import { errorResponse, newRequestId } from "@/lib/http/reply";
import { renderMetrics } from "@/lib/metrics";

// Not part of the API: metrics in Prometheus' text format, for programs that monitor the service.
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
