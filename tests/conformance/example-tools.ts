import {
  type CallToolResult,
  fromJsonSchema,
  type JsonSchemaType,
  type McpServer,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { z } from "zod";
import { embedded, image, sound } from "./example-content";

const pause = () => new Promise((resolve) => setTimeout(resolve, 50));

const text = (said: string): CallToolResult => ({ content: [{ type: "text", text: said }] });

/** The suite's tools that answer at once, or that report progress and log messages before they do. */
export function registerTools(server: McpServer): void {
  const answers: Record<string, CallToolResult["content"]> = {
    test_simple_text: [{ type: "text", text: "This is a simple text response for testing." }],
    test_image_content: [image],
    test_audio_content: [sound],
    test_embedded_resource: [
      embedded("test://embedded-resource", "text/plain", "This is an embedded resource content."),
    ],
    test_multiple_content_types: [
      { type: "text", text: "Multiple content types test:" },
      image,
      embedded("test://mixed-content-resource", "application/json", '{"test":"data","value":123}'),
    ],
  };
  for (const [name, content] of Object.entries(answers)) {
    server.registerTool(name, { description: `Answers with ${name.slice("test_".length)}.` }, () => ({
      content,
    }));
  }
  server.registerTool("test_error_handling", { description: "Fails." }, () => {
    throw new Error("This tool intentionally returns an error for testing");
  });
  for (const name of ["test_tool_with_logging", "test_logging_tool"]) {
    server.registerTool(name, { description: "Logs three messages." }, async ({ mcpReq }) => {
      for (const said of ["Tool execution started", "Tool processing data", "Tool execution completed"]) {
        await mcpReq.log("info", said);
        await pause();
      }
      return text("Three messages were logged.");
    });
  }
  server.registerTool(
    "test_tool_with_progress",
    { description: "Reports its progress." },
    async (context) => {
      for (const progress of [0, 50, 100]) {
        await report(context, progress);
        await pause();
      }
      return text("The progress was reported.");
    },
  );
  server.registerTool(
    "json_schema_2020_12_tool",
    { description: "Has the keywords of JSON Schema 2020-12.", inputSchema: fromJsonSchema(richSchema) },
    () => text("The arguments fit."),
  );
  server.registerTool(
    "test_header_parameter",
    {
      description: "Has a parameter that is sent as a header, too.",
      inputSchema: fromJsonSchema(headerSchema),
    },
    () => text("The header fits."),
  );
}

async function report({ mcpReq }: ServerContext, progress: number): Promise<void> {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return;
  await mcpReq.notify({ method: "notifications/progress", params: { progressToken, progress, total: 100 } });
}

/** Its keywords are the ones that scenario `json-schema-2020-12` looks for. */
const richSchema: JsonSchemaType = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  $defs: {
    address: {
      $anchor: "addressDef",
      type: "object",
      properties: { street: { type: "string" }, city: { type: "string" } },
    },
  },
  properties: {
    name: { type: "string" },
    address: { $ref: "#/$defs/address" },
    contactMethod: { type: "string", enum: ["phone", "email"] },
    phone: { type: "string" },
    email: { type: "string" },
  },
  allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
  if: { properties: { contactMethod: { const: "phone" } }, required: ["contactMethod"] },
  // biome-ignore lint/suspicious/noThenProperty: the keyword of JSON Schema
  then: { required: ["phone"] },
  else: { required: ["email"] },
  additionalProperties: false,
};

/** `x-mcp-header` is MCP's own keyword. */
const headerSchema = {
  type: "object",
  properties: { region: { type: "string", "x-mcp-header": "Region" } },
  required: ["region"],
} as JsonSchemaType;

/** The tools of the 2025 protocols that ask their client something while they run. */
export function registerAskingTools(server: McpServer): void {
  server.registerTool(
    "test_sampling",
    { description: "Asks the client's model.", inputSchema: { prompt: z.string() } },
    async ({ prompt }, { mcpReq }) => {
      const { content } = await mcpReq.send({
        method: "sampling/createMessage",
        params: { messages: [{ role: "user", content: { type: "text", text: prompt } }], maxTokens: 100 },
      });
      return text(`LLM response: ${"text" in content ? content.text : ""}`);
    },
  );
  server.registerTool(
    "test_elicitation",
    { description: "Asks the user.", inputSchema: { message: z.string() } },
    async ({ message }, context) => text(`User response: ${await elicit(context, message, userFields)}`),
  );
  for (const [name, fields] of Object.entries(forms)) {
    server.registerTool(name, { description: "Asks the user to fill in a form." }, async (context) =>
      text(`Elicitation completed: ${await elicit(context, "Fill in the form.", fields)}`),
    );
  }
}

async function elicit({ mcpReq }: ServerContext, message: string, fields: Fields): Promise<string> {
  const { action, content } = await mcpReq.send({
    method: "elicitation/create",
    params: { message, requestedSchema: { type: "object", ...fields } },
  });
  return `action=${action}, content=${JSON.stringify(content ?? {})}`;
}

type Fields = { properties: Record<string, object>; required?: string[] };

const userFields: Fields = {
  properties: {
    username: { type: "string", description: "User's response" },
    email: { type: "string", description: "User's email address" },
  },
  required: ["username", "email"],
};

const titled = (values: [value: string, title: string][]) =>
  values.map(([value, title]) => ({ const: value, title }));

const forms: Record<string, Fields> = {
  test_elicitation_sep1034_defaults: {
    properties: {
      name: { type: "string", default: "John Doe" },
      age: { type: "integer", default: 30 },
      score: { type: "number", default: 95.5 },
      status: { type: "string", enum: ["active", "inactive", "pending"], default: "active" },
      verified: { type: "boolean", default: true },
    },
  },
  test_elicitation_sep1330_enums: {
    properties: {
      untitledSingle: { type: "string", enum: ["option1", "option2", "option3"] },
      titledSingle: {
        type: "string",
        oneOf: titled([
          ["value1", "First Option"],
          ["value2", "Second Option"],
          ["value3", "Third Option"],
        ]),
      },
      legacyEnum: {
        type: "string",
        enum: ["opt1", "opt2", "opt3"],
        enumNames: ["Option One", "Option Two", "Option Three"],
      },
      untitledMulti: { type: "array", items: { type: "string", enum: ["option1", "option2", "option3"] } },
      titledMulti: {
        type: "array",
        items: {
          anyOf: titled([
            ["value1", "First Choice"],
            ["value2", "Second Choice"],
            ["value3", "Third Choice"],
          ]),
        },
      },
    },
  },
};
