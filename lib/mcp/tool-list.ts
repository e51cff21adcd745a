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

/** A schema whose root is an object, as the protocol has it; of no dialect in particular, since clients know few. */
function objectSchema(schema: z.ZodType, use: "body" | "output") {
  const { $schema: _, $ref, $defs = {}, ...root } = toJsonSchema(schema, use);
  const { [$ref?.split("/").at(-1) ?? ""]: named, ...others } = $defs;
  return {
    ...(named ?? root),
    ...(Object.keys(others).length > 0 && { $defs: others }),
  } as ListToolsResult["tools"][number]["inputSchema"];
}
