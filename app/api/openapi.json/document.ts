import type { OpenApiDocument } from "@/lib/contract/openapi";
import { env } from "@/lib/env";
import { buildOpenApi } from "@/lib/http/openapi";

let document: Promise<OpenApiDocument> | undefined;

/** The service's OpenAPI document, built once a process. */
export function apiDocument(): Promise<OpenApiDocument> {
  document ??= build().catch((error) => {
    document = undefined;
    throw error;
  });
  return document;
}

async function build(): Promise<OpenApiDocument> {
  // biome-ignore lint/suspicious/noImportCycles: imported late, when the routes that lead back here are loaded.
  const { routes } = await import("@/app/routes.generated");
  return buildOpenApi(routes, env().BASE_URL ?? "/");
}
