// Must not import zod, because pages load this file.
import type { PulledProvider } from "./pulled-providers";

/** The periods that providers limit. */
export const limitPeriods = ["day", "week", "month"] as const;
export type LimitPeriod = (typeof limitPeriods)[number];

/** What providers limit. */
export const limitKinds = [
  "organization",
  "project",
  "workspace",
  "key",
  "member",
  "guardrail",
  "repository",
] as const;
export type LimitKind = (typeof limitKinds)[number];

type Limited = {
  /** What it is called there. */
  label: string;
  periods: readonly LimitPeriod[];
};

type LimitingProvider = {
  kinds: Partial<Record<LimitKind, Limited>>;
  /** The smallest amount that it takes. What is less of a budget is cut off, so that it never lets more through. */
  unit: "cent" | "dollar";
  /** When its periods begin, and what else is particular to it. */
  note: string;
  /** The right that its key needs to set limits. */
  needs: string;
};

/** The providers that take limits. What is read from a cloud's exports can only be read. */
export type LimitableProvider = Exclude<PulledProvider, "aws" | "azure" | "google">;

/** What of each provider a budget's limit can be set on. */
export const limitingProviders: Record<LimitableProvider, LimitingProvider> = {
  openai: {
    kinds: {
      project: { label: "project", periods: ["month"] },
      organization: { label: "organization", periods: ["month"] },
    },
    unit: "cent",
    note: "OpenAI limits months alone.",
    needs: "an admin key",
  },
  anthropic: {
    kinds: {
      workspace: { label: "workspace", periods: ["month"] },
      organization: { label: "organization", periods: ["month"] },
      member: { label: "member", periods: ["day", "week", "month"] },
    },
    unit: "cent",
    note: "Anthropic sets limits of workspaces and the organization for Claude Console, by an early access preview that your account team turns on; limits of members for Claude Enterprise.",
    needs: "an admin key; a key with read:analytics can only read",
  },
  openrouter: {
    kinds: {
      key: { label: "API key", periods: ["day", "week", "month"] },
      workspace: { label: "workspace", periods: ["day", "week", "month"] },
      guardrail: { label: "guardrail", periods: ["day", "week", "month"] },
    },
    unit: "cent",
    note: "OpenRouter's days begin at midnight UTC, its weeks on Monday. A guardrail limits each key and member that it is assigned to.",
    needs: "a management key",
  },
  github: {
    kinds: {
      organization: { label: "organization", periods: ["month"] },
      member: { label: "member", periods: ["month"] },
      repository: { label: "repository", periods: ["month"] },
    },
    unit: "dollar",
    note: "GitHub limits the AI credits of a month, in whole dollars.",
    needs: "a token with the organization permission Administration (write)",
  },
  cursor: {
    kinds: { member: { label: "member", periods: ["month"] } },
    unit: "dollar",
    note: "Cursor limits members of Enterprise teams, in whole dollars of the team's billing cycle, which need not begin on the first of the month.",
    needs: "an admin API key of an Enterprise team",
  },
};

export const takesLimits = (provider: PulledProvider): provider is LimitableProvider =>
  Object.hasOwn(limitingProviders, provider);
