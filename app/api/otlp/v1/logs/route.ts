import { defineOtlpRoute } from "@/lib/sources/otlp/http";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineOtlpRoute("logs");
