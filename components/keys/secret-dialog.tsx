"use client";

import { CodeBlock } from "@/components/ui/code-block";
import { SecretDialog } from "@/components/ui/secret-dialog";
import { Tabs } from "@/components/ui/tabs";
import { writeKeySnippets } from "./key-snippets";
import type { KeyView, ServiceAddresses } from "./key-view";
import { TestCall } from "./test-call";

/** A key with its newly created secret. */
export type NewSecret = { apiKey: KeyView; secret: string };

/** Shows the secret of a key, which cannot be shown again, with snippets that use it. */
export default function KeySecretDialog({
  apiKey,
  secret,
  addresses,
  title,
  onClose,
}: NewSecret & { addresses: ServiceAddresses; title: string; onClose: () => void }) {
  const snippets = [
    { label: ".env", language: "dotenv" as const, code: `OUTLAY_API_KEY=${secret}` },
    ...writeKeySnippets(apiKey, addresses, secret),
  ];
  return (
    <SecretDialog
      secret={secret}
      label="secret"
      title={title}
      description={`Store it where your program reads it. It is shown only once. ${apiKey.summary}`}
      className="sm:max-w-2xl"
      onClose={onClose}
    >
      <Tabs
        label="Ways to use the key"
        tabs={snippets.map(({ label, language, code }) => ({
          id: label,
          label,
          content: <CodeBlock title={titles[label] ?? label} language={language} code={code} />,
        }))}
      />
      <TestCall apiKey={apiKey} secret={secret} />
    </SecretDialog>
  );
}

/** The title of each snippet, which its copy button also uses. */
const titles: Record<string, string> = {
  ".env": "Line for .env",
  curl: "curl command",
  TypeScript: "TypeScript example",
  Python: "Python example",
  MCP: "MCP configuration",
};
