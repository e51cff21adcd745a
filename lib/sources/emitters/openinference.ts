import { attribution, inferenceSpan } from "./conventions";
import type { Attribution, Emitter, Rule } from "./emitter";

/** The metadata of a run or of `using_attributes`, as JSON. */
const fromMetadata = (...names: string[]) => names.map((name) => `metadata#${name}`);

const own: Attribution = {
  user: ["user.id", ...fromMetadata("user_id", "user_email", "user"), ...attribution.user],
  session: [
    "session.id",
    ...fromMetadata("session_id", "thread_id", "conversation_id"),
    ...attribution.session,
  ],
  feature: [...fromMetadata("feature"), ...attribution.feature],
  project: [...fromMetadata("project"), ...attribution.project, "openinference.project.name"],
  tags: {
    ...attribution.tags,
    team: [...fromMetadata("team"), "team"],
    cost_center: [...fromMetadata("cost_center"), "cost_center"],
    department: [...fromMetadata("department"), "department"],
  },
};

const call: Rule = {
  ...inferenceSpan,
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
  attribution: own,
};

/** The instrumentations of OpenInference (Arize Phoenix). Spans of chains and agents repeat the counts of their calls. */
export const openInference: Emitter = {
  name: "openinference",
  scopes: [/openinference/],
  attributes: ["openinference.span.kind"],
  rules: [
    { ...call, where: { "openinference.span.kind": ["LLM", "EMBEDDING"] } },
    {
      // The Claude Agent SDK makes its calls in another process. Only the span of the agent reports them, as a sum.
      ...call,
      scopes: [/claude_agent_sdk|claude-agent-sdk/],
      where: { "openinference.span.kind": ["AGENT"] },
      except: {},
      isSum: true,
    },
    {
      // A reranker reports no tokens. It is billed by search.
      ...call,
      where: { "openinference.span.kind": ["RERANKER"] },
      except: {},
      model: ["reranker.model_name"],
      tokens: {},
      one: "rerankSearches",
    },
  ],
};
