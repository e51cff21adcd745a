import type { ListToolsResult } from "@modelcontextprotocol/server";
import type { z } from "zod";
import { toJsonSchema } from "@/lib/http/openapi-schemas";
import type { Tool } from "./tools";

/** The tools as `tools/list` names them. Recording is additive, and twice is two records: not idempotent by itself. */
export function listTools(tools: Tool[]): ListToolsResult {
  return {
    tools: tools.map(({ name, title, description, input, output, isReadOnly }) => ({
      name,
      title,
      description,
      inputSchema: objectSchema(input, "body"),
      outputSchema: objectSchema(output, "output"),
      annotations: {
        title,
        readOnlyHint: isReadOnly,
        destructiveHint: false,
        idempotentHint: isReadOnly,
        openWorldHint: false,
      },
    })),
  };
}

/**
 * A schema whose root is an object, as the protocol has it; of no dialect in particular, and with what it refers to in
 * its place, since clients know few dialects and some follow no references.
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
