/**
 * The providers whose costs are pulled, as pages show them: their names, the key that reads the costs and where it is made, and what
 * else that key can do, because it should do no more. `account` says what the name of an account is where the provider needs it.
 */
export const pulledProviders = {
  openai: {
    label: "OpenAI",
    key: "Admin key",
    keyBegins: "sk-admin-",
    keysAt: "https://platform.openai.com/settings/organization/admin-keys",
    rights:
      "OpenAI has no narrower key: an admin key can manage the organization. Outlay reads costs, and sets the limits that you link to budgets.",
  },
  anthropic: {
    label: "Anthropic",
    key: "Admin key, or a key with read:analytics",
    keyBegins: "sk-ant-",
    keysAt: "https://platform.claude.com/settings/admin-keys",
    rights:
      "A key with the scope read:analytics reads costs and nothing else. An admin key can also set limits that follow budgets.",
  },
  openrouter: {
    label: "OpenRouter",
    key: "Management key",
    keyBegins: "sk-or-",
    keysAt: "https://openrouter.ai/settings/management-keys",
    rights:
      "A management key cannot call models, and can create keys. OpenRouter has no narrower one. Outlay reads costs, and sets the limits that you link to budgets.",
  },
  cursor: {
    label: "Cursor",
    key: "Admin API key",
    keyBegins: "crsr_",
    keysAt: "https://cursor.com/dashboard",
    rights:
      "Cursor gives admin keys to Enterprise teams. Outlay reads usage events, and sets the spend limits that you link to budgets.",
  },
  github: {
    label: "GitHub",
    key: "Token of an owner or billing manager",
    keyBegins: "github_pat_",
    keysAt: "https://github.com/settings/personal-access-tokens",
    rights:
      "A fine-grained token needs the organization permission Administration (read), and GitHub Copilot Business (read) to count seats. With Administration (write), budgets can set limits there.",
    account: "The organization, as its address names it: github.com/acme is acme.",
  },
} as const satisfies Record<
  string,
  Record<"label" | "key" | "keyBegins" | "keysAt" | "rights", string> & { account?: string }
>;

export type PulledProvider = keyof typeof pulledProviders;

/** What the account of a provider is called there, where the provider needs it to be named. */
export const accountOf = (provider: PulledProvider): string | undefined => {
  const found = pulledProviders[provider];
  return "account" in found ? found.account : undefined;
};
