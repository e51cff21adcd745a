import { constants, setPriority } from "node:os";
import { parentPort } from "node:worker_threads";
import { answerJob, type Job } from "@/lib/sources/decoder/thread";

// The thread that decodes large bodies, started by `lib/sources/decoder/thread.ts`. It has a low priority, so that other requests come
// first if there are few cores. Only on Linux can a single thread have a priority; elsewhere it would apply to the process.
if (process.platform === "linux") setPriority(constants.priority.PRIORITY_BELOW_NORMAL);

parentPort?.on("message", (job: Job) => parentPort?.postMessage(answerJob(job)));
