import { z } from "zod";
import { env } from "@/lib/env";
import { defineRoute, endpoint } from "@/lib/http/define-route";
import { buildOpenApi } from "@/lib/http/openapi";
import { PreparedFile } from "@/lib/http/prepared-file";

let document: Promise<PreparedFile> | undefined;

/** The service's OpenAPI document, built once per process. */
function apiDocument(): Promise<PreparedFile> {
  document ??= build().catch((error) => {
    document = undefined;
    throw error;
  });
  return document;
}

async function build(): Promise<PreparedFile> {
  // biome-ignore lint/suspicious/noImportCycles: imported late, when the routes that lead back here are loaded.
  const { routes } = await import("@/app/routes.generated");
  const written = JSON.stringify(await buildOpenApi(routes, env().BASE_URL ?? "/"));
  return new PreparedFile({
    body: Buffer.from(written),
    type: "application/json; charset=utf-8",
    headers: { "Cache-Control": "public, max-age=0" },
  });
}

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  GET: endpoint({
    summary: "This API as an OpenAPI 3.1 document",
    auth: "none",
    response: z.instanceof(PreparedFile),
    run: async ({ headers }) => {
      // The document is public, and tools in pages of other origins read it.
      headers["Access-Control-Allow-Origin"] = "*";
      return apiDocument();
    },
  }),
});
