import { defineOtlpRoute } from "@/lib/sources/otlp/http";

/** The path that Langfuse's SDKs append to the configured address. */
export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineOtlpRoute("traces");
