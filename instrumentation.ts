import type { Instrumentation } from "next";
import { recordOutage } from "@/lib/peer";

/** Next calls this with each error of a page. Our server then answers 503 for an outage, which Next itself answers with 500. */
export const onRequestError: Instrumentation.onRequestError = (error) => {
  if (!(error instanceof Error) || !("code" in error) || error.code !== "unavailable") return;
  recordOutage("headers" in error ? (error.headers as Record<string, string>) : {});
};
