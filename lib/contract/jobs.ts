import { z } from "zod";

/** The result of each job that ran. */
export const jobsResult = z.object({
  jobs: z.array(
    z.object({
      name: z.string(),
      done: z.int().meta({ description: "Charges booked, messages corrected, or deliveries begun." }),
      failed: z.boolean().meta({ description: "It failed and will be tried again." }),
    }),
  ),
});
