/**
 * The providers whose costs are pulled, as pages show them: their names, the key that reads the costs and where it is made, and what
 * else that key can do, because it should do no more.
 */
export const pulledProviders = {
  openai: {
    label: "OpenAI",
    key: "Admin key",
    keyBegins: "sk-admin-",
    keysAt: "https://platform.openai.com/settings/organization/admin-keys",
    rights:
      "OpenAI has no narrower key: an admin key can manage the organization. Outlay asks for costs alone.",
  },
  anthropic: {
    label: "Anthropic",
    key: "Admin key, or a key with read:analytics",
    keyBegins: "sk-ant-",
    keysAt: "https://platform.claude.com/settings/admin-keys",
    rights:
      "A key with the scope read:analytics reads costs and nothing else. An admin key works, and can do more.",
  },
  openrouter: {
    label: "OpenRouter",
    key: "Management key",
    keyBegins: "sk-or-",
    keysAt: "https://openrouter.ai/settings/management-keys",
    rights: "A management key cannot call models, and can create keys. OpenRouter has no narrower one.",
  },
} as const;

export type PulledProvider = keyof typeof pulledProviders;
