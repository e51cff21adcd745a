// What a simulated process runs: the product's own code, as one bundle (`bundle.ts`).
export { jobs, runJob } from "@/app/api/jobs/jobs";
export { generateSecret } from "@/lib/access/secrets/secret";
export { configureDatabase } from "@/lib/db/pool";
export { announceSealingKey } from "@/lib/seal";
export { connectWorkers } from "@/lib/workers";
export { createRouter } from "@/server/router";
export { pauseBefore } from "@/server/supervisor";
