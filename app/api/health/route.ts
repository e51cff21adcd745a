import { health } from "@/lib/contract/reads";
import { checkHealth } from "@/lib/health/service";
import { defineRoute, endpoint } from "@/lib/http/define-route";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  GET: endpoint({
    summary: "Is the service well?",
    description:
      "Needs no credentials. Answers 200 while the service runs; `status` is `degraded` while its database is away.",
    auth: "none",
    response: health,
    run: checkHealth,
  }),
});
