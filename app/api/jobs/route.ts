import { requireCronSecret } from "@/lib/access/operator";
import { jobsResult } from "@/lib/contract/jobs";
import { defineRoute, endpoint } from "@/lib/http/define-route";
import { jobs, runJob } from "./jobs";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  GET: endpoint({
    summary: "Run the jobs",
    description:
      "For platforms without our server, such as Vercel: a scheduler calls this every minute with `Authorization: Bearer $CRON_SECRET`. It books recurring subscriptions, corrects prices, delivers alerts and digests, and mails weekly reports. Not found where CRON_SECRET is not set.",
    auth: "none",
    response: jobsResult,
    errors: ["missing_credentials", "invalid_credentials", "not_found"],
    run: async ({ request }) => {
      requireCronSecret(request.headers.get("authorization"));
      const done = await Promise.all(jobs.map(runJob));
      // A platform that calls this route may stop the process as soon as the response is sent.
      await Promise.all(jobs.map(({ drain }) => drain?.(false)));
      return { jobs: done };
    },
  }),
});
