import {
  acceptedContent,
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  createRequestStateCodec,
  type InputRequest,
  inputRequired,
  type McpServer,
  type ServerContext,
} from "@modelcontextprotocol/server";

/** Seals what a tool has to know in its next round; the client carries it and cannot change it. */
export const state = createRequestStateCodec<{ round: number }>({
  key: crypto.getRandomValues(new Uint8Array(32)),
});

/** What a tool asks for in a round; undefined: nothing more, it answers. */
type Round = (context: ServerContext) => Promise<Questions | undefined> | Questions | undefined;
type Questions = { inputRequests: Record<string, InputRequest>; requestState?: string };

const ask = (message: string, property: string, field: { type: "string" } | { type: "boolean" }) =>
  inputRequired.elicit({
    message,
    requestedSchema: { type: "object", properties: { [property]: field }, required: [property] },
  });
const askName = () => ask("What is your name?", "name", { type: "string" });
const sample = (question: string, maxTokens: number) =>
  inputRequired.createMessage({
    messages: [{ role: "user", content: { type: "text", text: question } }],
    maxTokens,
  });

const capabilitiesOf = ({ envelope }: ServerContext["mcpReq"]) =>
  (envelope as { [CLIENT_CAPABILITIES_META_KEY]?: ClientCapabilities } | undefined)?.[
    CLIENT_CAPABILITIES_META_KEY
  ];

/** Asks everything again until each question has its answer. */
const untilAnswered =
  (inputRequests: Record<string, InputRequest>, round?: number): Round =>
  async ({ mcpReq }) => {
    if (Object.keys(inputRequests).every((name) => mcpReq.inputResponses?.[name])) return undefined;
    return { inputRequests, ...(round !== undefined && { requestState: await state.mint({ round }) }) };
  };

const confirm = { confirm: ask("Please confirm", "ok", { type: "boolean" }) };

/** The tools of 2026-07-28 that need input of their client: they answer with what they need, and are called again. */
const tools: Record<string, Round> = {
  test_input_required_result_elicitation: ({ mcpReq }) =>
    acceptedContent(mcpReq.inputResponses, "user_name")
      ? undefined
      : { inputRequests: { user_name: askName() } },
  test_input_required_result_sampling: untilAnswered({
    capital_question: sample("What is the capital of France?", 100),
  }),
  test_input_required_result_list_roots: untilAnswered({ client_roots: inputRequired.listRoots() }),
  test_input_required_result_request_state: untilAnswered(confirm, 1),
  test_input_required_result_tampered_state: untilAnswered(confirm, 1),
  test_input_required_result_multiple_inputs: untilAnswered(
    {
      user_name: askName(),
      greeting: sample("Generate a greeting", 50),
      client_roots: inputRequired.listRoots(),
    },
    1,
  ),
  test_input_required_result_multi_round: async ({ mcpReq }) => {
    const round = mcpReq.requestState<{ round: number }>()?.round ?? 0;
    if (round === 0)
      return {
        inputRequests: { step1: ask("Step 1: What is your name?", "name", { type: "string" }) },
        requestState: await state.mint({ round: 1 }),
      };
    if (round === 1)
      return {
        inputRequests: { step2: ask("Step 2: What is your favorite color?", "color", { type: "string" }) },
        requestState: await state.mint({ round: 2 }),
      };
    return undefined;
  },
  test_input_required_result_capabilities: ({ mcpReq }) => {
    const declared = capabilitiesOf(mcpReq);
    return {
      inputRequests: {
        ...(declared?.sampling && { question: sample("What is the capital of France?", 100) }),
        ...(declared?.elicitation && { user_name: askName() }),
      },
    };
  },
  test_missing_capability: untilAnswered({ question: sample("What is the capital of France?", 100) }),
  test_streaming_elicitation: untilAnswered({ user_name: askName() }),
};

/** Registers the tools that need input of their client. */
export function registerInputTools(server: McpServer): void {
  for (const [name, round] of Object.entries(tools)) {
    server.registerTool(name, { description: "Needs input of its client." }, async (context) => {
      const questions = await round(context);
      if (questions) return inputRequired(questions);
      return {
        content: [{ type: "text", text: `state-ok ${JSON.stringify(context.mcpReq.inputResponses ?? {})}` }],
      };
    });
  }
}
