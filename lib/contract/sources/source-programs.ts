/** The programs that the page Sources has instructions for. This file imports no package, because browsers load it. */
export const sourcePrograms = [
  "claude-code",
  "claude-code-team",
  "codex",
  "gemini-cli",
  "copilot",
  "ai-sdk",
  "python",
  "litellm",
  "claude-platform",
  "openrouter",
  "helicone",
  "langfuse",
  "otlp",
] as const;
export type SourceProgram = (typeof sourcePrograms)[number];

/** Attributes that the settings of a source suggest; any other can be typed. They are read from every export. */
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
