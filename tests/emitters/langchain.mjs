import { pythonTrial } from "./python.mjs";

const trial = ({ packages, ...rest }) =>
  pythonTrial({
    program: "langchain_calls.py",
    packages: [...packages, "langchain-openai", "langchain-anthropic"],
    ...rest,
  });

export default [
  trial({
    name: "LangChain, LangSmith",
    packages: ["langsmith"],
    env: {
      INSTRUMENTATION: "langsmith",
      LANGSMITH_TRACING: "true",
      LANGSMITH_OTEL_ENABLED: "true",
      LANGSMITH_OTEL_ONLY: "true",
    },
  }),
  trial({
    name: "LangChain, OpenInference",
    packages: ["openinference-instrumentation-langchain"],
    env: { INSTRUMENTATION: "openinference.instrumentation.langchain:LangChainInstrumentor" },
  }),
];
