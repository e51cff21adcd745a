/** The programs that the page Sources has instructions for. Free of packages, for the browser. */
export const sourcePrograms = [
  "claude-code",
  "claude-code-team",
  "codex",
  "gemini-cli",
  "copilot",
  "ai-sdk",
  "python",
  "litellm",
  "openrouter",
  "helicone",
  "langfuse",
  "otlp",
] as const;
export type SourceProgram = (typeof sourcePrograms)[number];

/** Attributes that the settings of a source offer; any other can be typed. They are read of every export. */
export const offeredAttributes = {
  project: [
    "project",
    "service.name",
    "service.namespace",
    "openinference.project.name",
    "vcs.repository.name",
    "vcs.repository.url.full",
  ],
  feature: [
    "feature",
    "gen_ai.agent.name",
    "ai.telemetry.functionId",
    "query_source",
    "agent.name",
    "skill.name",
  ],
  tags: ["team", "cost_center", "department", "deployment.environment.name"],
} as const;
