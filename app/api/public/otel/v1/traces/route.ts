import { defineOtlpRoute } from "@/lib/sources/otlp/http";

/** The path that Langfuse's SDKs add to the address that they are given. */
export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineOtlpRoute("traces");
