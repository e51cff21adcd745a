import { health } from "@/lib/contract/spend/reads";
import { defineRoute, endpoint } from "@/lib/http/define-route";
import { requireHealth } from "@/lib/http/health";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  GET: endpoint({
    summary: "Check the service's health",
    description:
      "Needs no credentials. 200 if the service can read and record; otherwise 503 within six seconds, with `status` `failing` and the cause in `checks`, beside the members of every error.",
    auth: "none",
    response: health,
    errors: ["unavailable"],
    run: requireHealth,
  }),
});
