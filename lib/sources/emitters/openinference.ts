import { attribution, inferenceSpan } from "./conventions";
import type { Emitter } from "./emitter";

/** The instrumentations of OpenInference (Arize Phoenix). Spans of chains and agents repeat the counts of their calls. */
export const openInference: Emitter = {
  name: "openinference",
  scopes: [/openinference/],
  attributes: ["openinference.span.kind"],
  rules: [
    {
      ...inferenceSpan,
      where: { "openinference.span.kind": ["LLM", "EMBEDDING"] },
      provider: ["llm.provider", "llm.system", "gen_ai.provider.name", "gen_ai.system"],
      model: ["llm.response.model_name", "llm.model_name", "embedding.model_name", "llm.request.model_name"],
      tokens: {
        input: ["llm.token_count.prompt"],
        output: ["llm.token_count.completion"],
        cacheRead: ["llm.token_count.prompt_details.cache_read"],
        cacheWrite: ["llm.token_count.prompt_details.cache_write"],
        inputAudio: ["llm.token_count.prompt_details.audio"],
        outputAudio: ["llm.token_count.completion_details.audio"],
        reasoning: ["llm.token_count.completion_details.reasoning"],
      },
      cost: { usd: ["llm.cost.total"], parts: ["llm.cost.prompt", "llm.cost.completion"] },
      attribution: { ...attribution, project: [...attribution.project, "openinference.project.name"] },
    },
  ],
};
