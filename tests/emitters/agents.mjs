import { pythonTrial } from "./python.mjs";

const openInference = (...names) =>
  names.map(([module, name]) => `openinference.instrumentation.${module}:${name}Instrumentor`).join(",");
const ofOpenAi = ["openai", "OpenAI"];

/**
 * A framework that is told by its own instrumentation, which leaves out counts, and by that together with the instrumentation of the
 * SDK under it.
 */
const alone = ({ name, told, inexact, instrumentation, with: more, packages, besides, ...rest }) => [
  pythonTrial({ name, told, inexact, packages, env: { INSTRUMENTATION: instrumentation }, ...rest }),
  pythonTrial({
    name: `${name} with its OpenAI instrumentation`,
    packages: [...packages, ...besides],
    env: { INSTRUMENTATION: `${instrumentation},${more}` },
    ...rest,
  }),
];

/** What was read from the cache is told as input. */
const withoutCache = ({ cacheRead = 0, ...call }) => [{ ...call, input: call.input + cacheRead }];
const hourUntold = "writes to Claude's cache for an hour are not reported";
const llamaIndex = { venv: "openai-2", program: "llamaindex.py" };
const isResponse = ({ id }) => id.startsWith("resp_");

/** Frameworks of agents, of Python. */
export default [
  ...alone({
    name: "OpenAI Agents, OpenInference",
    program: "openai_agents.py",
    packages: ["openai-agents", "openinference-instrumentation-openai-agents"],
    besides: ["openinference-instrumentation-openai"],
    instrumentation: openInference(["openai_agents", "OpenAIAgents"]),
    with: openInference(ofOpenAi),
    told: (call) => (isResponse(call) ? [call] : withoutCache(call)),
    inexact:
      "of chat completions, what was read from the cache is at most in the text of answers, which is not read",
  }),
  ...alone({
    name: "OpenAI Agents, OpenLLMetry",
    program: "openai_agents.py",
    packages: ["openai-agents", "opentelemetry-instrumentation-openai-agents"],
    besides: ["opentelemetry-instrumentation-openai"],
    instrumentation: "opentelemetry.instrumentation.openai_agents:OpenAIAgentsInstrumentor",
    with: "opentelemetry.instrumentation.openai:OpenAIInstrumentor",
    told: (call) => (isResponse(call) ? [call] : []),
    inexact: "chat completions have no counts",
  }),
  pythonTrial({
    ...llamaIndex,
    name: "LlamaIndex, OpenInference",
    packages: ["llama-index-core", "openinference-instrumentation-llama-index"],
    env: { INSTRUMENTATION: openInference(["llama_index", "LlamaIndex"]) },
    told: (call) => {
      if (!isResponse(call)) return call.id.startsWith("embedding") ? [] : [call];
      return call.isStream ? [] : withoutCache(call);
    },
    inexact:
      "embeddings and streams of the Responses have no counts, and of whole Responses what was read from the cache is not reported",
  }),
  // Not both: LlamaIndex's span of a stream ends before the SDK's begins, and is not around it.
  pythonTrial({
    ...llamaIndex,
    name: "LlamaIndex, OpenInference of OpenAI's SDK alone",
    packages: ["llama-index-core", "openinference-instrumentation-openai"],
    env: { INSTRUMENTATION: openInference(ofOpenAi), WITHOUT_ANTHROPIC: "1" },
  }),
  pythonTrial({
    name: "Google ADK",
    venv: "google-adk",
    program: "google_adk.py",
    packages: ["google-adk"],
  }),
  pythonTrial({
    name: "Strands",
    venv: "google-adk",
    program: "strands_agents.py",
    packages: ["strands-agents"],
    inexact: hourUntold,
  }),
  ...alone({
    name: "smolagents, OpenInference",
    program: "smol_agents.py",
    packages: ["smolagents", "openinference-instrumentation-smolagents"],
    besides: ["openinference-instrumentation-openai"],
    instrumentation: openInference(["smolagents", "Smolagents"]),
    with: openInference(ofOpenAi),
    told: withoutCache,
    inexact: "what was read from the cache is in the text of answers alone, which is not read",
  }),
];
