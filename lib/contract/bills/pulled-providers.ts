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
      "A key with the scope read:analytics reads costs and nothing else. An admin key can also set limits that follow budgets, and have Anthropic send its calls here.",
  },
  openrouter: {
    label: "OpenRouter",
    key: "Management key",
    keyBegins: "sk-or-",
    keysAt: "https://openrouter.ai/settings/management-keys",
    rights:
      "A management key cannot call models, and can create keys. OpenRouter has no narrower one. Outlay reads costs, sets the limits that you link to budgets, and registers Broadcast if you ask for it.",
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
  aws: {
    label: "AWS exports",
    key: "Access key ID and secret, with a colon between",
    keyBegins: "AKIA",
    keysAt: "https://console.aws.amazon.com/iam/home#/users",
    rights:
      "Give the user s3:ListBucket on the bucket and s3:GetObject on the folder, and nothing else. FOCUS and CUR 2.0 exports are read.",
    folder: "https://s3.eu-central-1.amazonaws.com/bucket/exports",
    store: "s3",
  },
  azure: {
    label: "Azure exports",
    key: "Shared access signature (SAS token)",
    keyBegins: "sv=",
    keysAt: "https://portal.azure.com/",
    rights:
      "Let the token list and read the container, and nothing else. FOCUS exports of Cost Management are read.",
    folder: "https://account.blob.core.windows.net/container/exports",
    store: "azure",
  },
  google: {
    label: "Google Cloud exports",
    key: "HMAC key: access key and secret, with a colon between",
    keyBegins: "GOOG1",
    keysAt: "https://console.cloud.google.com/storage/settings",
    rights:
      "Give the service account the role Storage Object Viewer on the bucket. FOCUS exports to a bucket are read, as Parquet or CSV.",
    folder: "https://storage.googleapis.com/bucket/exports",
    store: "s3",
  },
} as const satisfies Record<
  string,
  Record<"label" | "key" | "keyBegins" | "keysAt" | "rights", string> & {
    account?: string;
    folder?: string;
    store?: "s3" | "azure";
  }
>;

export type PulledProvider = keyof typeof pulledProviders;

/** Of providers whose bills are exports in a bucket: what the address of a folder looks like, and what store it is in. */
export function folderOf(provider: PulledProvider): { example: string; store: "s3" | "azure" } | undefined {
  const found = pulledProviders[provider];
  return "store" in found ? { example: found.folder, store: found.store } : undefined;
}

/** What the account of a provider is called there, where the provider needs it to be named. */
export const accountOf = (provider: PulledProvider): string | undefined => {
  const found = pulledProviders[provider];
  return "account" in found ? found.account : undefined;
};
