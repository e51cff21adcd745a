import type { ListToolsResult } from "@modelcontextprotocol/server";
import type { z } from "zod";
import { toJsonSchema } from "@/lib/http/openapi-schemas";
import type { Tool } from "./tools";

/** The result of `tools/list`. Tools that record are not idempotent: each call adds a record. */
export function listTools(tools: Tool[]): ListToolsResult {
  return {
    tools: tools.map(
      ({ name, title, description, input, output, isReadOnly, isIdempotent = isReadOnly }) => ({
        name,
        title,
        description,
        inputSchema: objectSchema(input, "body"),
        outputSchema: objectSchema(output, "output"),
        annotations: {
          title,
          readOnlyHint: isReadOnly,
          destructiveHint: false,
          idempotentHint: isIdempotent,
          openWorldHint: false,
        },
      }),
    ),
  };
}

/**
 * A JSON Schema whose root is an object, as the protocol requires. It has no `$schema`, because clients know few dialects, and
 * its references are replaced by what they refer to, because some clients do not resolve references.
 */
function objectSchema(schema: z.ZodType, use: "body" | "output") {
  const { $schema: _, $defs = {}, ...root } = toJsonSchema(schema, use);
  const inline = (value: unknown): unknown =>
    JSON.parse(JSON.stringify(value), (_name, member) => {
      const id = typeof member?.$ref === "string" ? member.$ref.split("/").at(-1) : undefined;
      if (id === undefined) return member;
      const { $ref: _ref, ...beside } = member;
      return { ...(inline($defs[id]) as object), ...beside };
    });
  return inline(root) as ListToolsResult["tools"][number]["inputSchema"];
}
