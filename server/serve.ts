import { setTimeout as wait } from "node:timers/promises";
import { readParquetBy } from "@/lib/bills/parquet/read-apart";
import { type Env, env } from "@/lib/env";
import { storeSourceCounts } from "@/lib/keys/sources/count-source-request";
import { announceAddress } from "@/lib/service-address";
import { decodeInThread } from "@/lib/sources/decoder/thread";
import { startHttp } from "./http";
import { startJobs } from "./jobs";
import { stopLimits } from "./stop-limits";

/** A service that answers requests at `address`. `stop` answers pending requests first. */
export type Serving = { address: string; stop(): Promise<void> };

/**
 * Answers requests in this process, on the database for which it is configured.
 * @param options.runsJobs whether this process also runs the background jobs, unless the setting OUTLAY_JOBS is off
 * @throws Error EADDRINUSE if the port is in use; Error if pages are to be served and there is no build
 */
export async function serve({ dev, runsJobs }: { dev: boolean; runsJobs: boolean }): Promise<Serving> {
  const settings: Env = env();
  /** Functions that close opened resources, in the order in which these were opened. */
  const opened: (() => Promise<unknown>)[] = [];
  const stop = async () => {
    for (const close of opened.splice(0).reverse()) await close();
  };
  try {
    // Loaded only when needed, because the SDK is larger than the service.
    if (settings.OTEL_EXPORTER_OTLP_ENDPOINT) opened.push((await import("./tracing")).startTracing(settings));
    // Stores the counts of requests after the last one is answered.
    opened.push(storeSourceCounts);
    // In development there are no bundles of them.
    if (!dev) decodeInThread(new URL("./decoder.mjs", import.meta.url));
    readParquetBy(dev ? "here" : new URL("./parquet.mjs", import.meta.url));
    const http = await startHttp({ port: settings.PORT, host: settings.HOST, dev });
    const jobs = runsJobs && settings.OUTLAY_JOBS === "on" ? startJobs() : undefined;
    // Both at the same time. A job may take longer than a stop; its next run repeats the unfinished work.
    opened.push(() =>
      Promise.all([
        http.close(),
        jobs && Promise.race([jobs.stop(), wait(stopLimits.drainMs, undefined, { ref: false })]),
      ]),
    );
    announceAddress(http.address);
    return { address: http.address, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
