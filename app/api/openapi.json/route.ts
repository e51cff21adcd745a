import { z } from "zod";
import { defineRoute, endpoint } from "@/lib/http/define-route";
import { PreparedFile } from "@/lib/http/prepared-file";
// biome-ignore lint/suspicious/noImportCycles: the document imports the table of routes only when it is asked for.
import { apiDocument } from "./document";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  GET: endpoint({
    summary: "This API as an OpenAPI 3.1 document",
    auth: "none",
    response: z.instanceof(PreparedFile),
    run: async ({ headers }) => {
      // Public, and meant for tools that run in a page of another origin.
      headers["Access-Control-Allow-Origin"] = "*";
      return apiDocument();
    },
  }),
});
