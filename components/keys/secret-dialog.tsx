"use client";

import { useState } from "react";
import { Alert } from "@/components/ui/alert";
import { Button } from "@/components/ui/button";
import { CodeBlock } from "@/components/ui/code-block";
import {
  Dialog,
  DialogContent,
  DialogDescription,
  DialogFooter,
  DialogHeader,
  DialogTitle,
} from "@/components/ui/dialog";
import { Secret } from "@/components/ui/secret";
import { Tabs } from "@/components/ui/tabs";
import { writeKeySnippets } from "./key-snippets";
import type { KeyView, ServiceAddresses } from "./key-view";
import { TestCall } from "./test-call";

/** A key with its newly created secret. */
export type NewSecret = { apiKey: KeyView; secret: string };

/**
 * Shows the secret of a key, which cannot be shown again, with snippets that use it. Only the button at the end closes the
 * dialog: Escape and the close button show a warning, and a click outside does nothing.
 */
export default function SecretDialog({
  apiKey,
  secret,
  addresses,
  title,
  onClose,
}: NewSecret & { addresses: ServiceAddresses; title: string; onClose: () => void }) {
  const [isLeaving, setLeaving] = useState(false);
  const snippets = [
    { label: ".env", language: "dotenv" as const, code: `OUTLAY_API_KEY=${secret}` },
    ...writeKeySnippets(apiKey, addresses, secret),
  ];
  return (
    <Dialog open onOpenChange={() => setLeaving(true)}>
      <DialogContent guarded className="sm:max-w-2xl">
        <DialogHeader>
          <DialogTitle>{title}</DialogTitle>
          <DialogDescription>
            Store it where your program reads it. It is shown only once. {apiKey.summary}
          </DialogDescription>
        </DialogHeader>
        <Secret secret={secret} label="secret" />
        <Tabs
          label="Ways to use the key"
          tabs={snippets.map(({ label, language, code }) => ({
            id: label,
            label,
            content: <CodeBlock title={titles[label] ?? label} language={language} code={code} />,
          }))}
        />
        <TestCall apiKey={apiKey} secret={secret} />
        {isLeaving ? (
          <Alert variant="warning">
            The secret cannot be shown again after you close this. If you have stored it, use the button
            below.
          </Alert>
        ) : null}
        <DialogFooter>
          <Button onClick={onClose}>I have stored it</Button>
        </DialogFooter>
      </DialogContent>
    </Dialog>
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
