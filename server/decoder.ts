import { constants, setPriority } from "node:os";
import { parentPort } from "node:worker_threads";
import { answerJob, type Job } from "@/lib/sources/decoder/thread";

// Decodes large bodies in a thread of its own; `lib/sources/decoder/thread.ts` starts it. Where cores are few, other requests come
// first. Only Linux has a priority for a single thread: elsewhere it would be that of the process.
if (process.platform === "linux") setPriority(constants.priority.PRIORITY_BELOW_NORMAL);

parentPort?.on("message", (job: Job) => parentPort?.postMessage(answerJob(job)));
