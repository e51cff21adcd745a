import { completable, inputRequired, type McpServer, ResourceTemplate } from "@modelcontextprotocol/server";
import { z } from "zod";
import { embedded, image, png } from "./example-content";

/** The suite's resources. They never change, so a subscription to one is taken and needs no record. */
export function registerResources(mcp: McpServer): void {
  mcp.registerResource(
    "static-text",
    "test://static-text",
    { description: "A text that never changes.", mimeType: "text/plain" },
    ({ href: uri }) => ({
      contents: [{ uri, mimeType: "text/plain", text: "This is the content of the static text resource." }],
    }),
  );
  mcp.registerResource(
    "static-binary",
    "test://static-binary",
    { description: "A picture that never changes.", mimeType: "image/png" },
    ({ href: uri }) => ({ contents: [{ uri, mimeType: "image/png", blob: png }] }),
  );
  mcp.registerResource(
    "template",
    new ResourceTemplate("test://template/{id}/data", { list: undefined }),
    { description: "What belongs to an id.", mimeType: "application/json" },
    ({ href: uri }, { id }) => {
      const text = JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` });
      return { contents: [{ uri, mimeType: "application/json", text }] };
    },
  );
  mcp.server.setRequestHandler("resources/subscribe", () => ({}));
  mcp.server.setRequestHandler("resources/unsubscribe", () => ({}));
}

const said = (content: { type: "text"; text: string } | ReturnType<typeof embedded> | typeof image) => ({
  role: "user" as const,
  content,
});

/** The suite's prompts, with completions of an argument. */
export function registerPrompts(mcp: McpServer): void {
  mcp.registerPrompt("test_simple_prompt", { description: "Says one sentence." }, () => ({
    messages: [said({ type: "text", text: "This is a simple prompt for testing." })],
  }));
  mcp.registerPrompt(
    "test_prompt_with_arguments",
    {
      description: "Says its arguments.",
      argsSchema: z.object({
        arg1: completable(z.string(), (begun) =>
          ["paris", "park", "party"].filter((word) => word.startsWith(begun)),
        ),
        arg2: z.string(),
      }),
    },
    ({ arg1, arg2 }) => ({
      messages: [said({ type: "text", text: `Prompt with arguments: arg1='${arg1}', arg2='${arg2}'` })],
    }),
  );
  mcp.registerPrompt(
    "test_prompt_with_embedded_resource",
    { description: "Embeds a resource.", argsSchema: z.object({ resourceUri: z.string() }) },
    ({ resourceUri }) => ({
      messages: [
        said(embedded(resourceUri, "text/plain", "Embedded resource content for testing.")),
        said({ type: "text", text: "Please process the embedded resource above." }),
      ],
    }),
  );
  mcp.registerPrompt("test_prompt_with_image", { description: "Shows a picture." }, () => ({
    messages: [said(image), said({ type: "text", text: "Please analyze the image above." })],
  }));
  mcp.registerPrompt(
    "test_input_required_result_prompt",
    { description: "Asks the user for its context." },
    ({ mcpReq }) => {
      if (mcpReq.inputResponses?.user_context) {
        return { messages: [said({ type: "text", text: "The prompt has its context." })] };
      }
      const requestedSchema = {
        type: "object" as const,
        properties: { context: { type: "string" as const } },
        required: ["context"],
      };
      const message = "What context should the prompt use?";
      return inputRequired({
        inputRequests: { user_context: inputRequired.elicit({ message, requestedSchema }) },
      });
    },
  );
}
