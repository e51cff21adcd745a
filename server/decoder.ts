import { parentPort } from "node:worker_threads";
import { answerJob, type Job } from "@/lib/sources/decoder/thread";

// Decodes large bodies in a thread of its own; `lib/sources/decoder/thread.ts` starts it.
parentPort?.on("message", (job: Job) => parentPort?.postMessage(answerJob(job)));
