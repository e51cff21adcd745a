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

/** A key with the secret that was just made for it. */
export type NewSecret = { apiKey: KeyView; secret: string };

/**
 * The one time a secret is in sight. Only the button at the end closes it at once; Escape and the cross are asked about,
 * a click beside it does nothing.
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
            Store it where your program reads it. It is shown this once and kept by nobody. {apiKey.summary}
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
            Once this is closed, nobody can show the secret again. If it is stored, close it below.
          </Alert>
        ) : null}
        <DialogFooter>
          <Button onClick={onClose}>I have stored it</Button>
        </DialogFooter>
      </DialogContent>
    </Dialog>
  );
}

/** What stands above each snippet, for the eye and for its button to copy. */
const titles: Record<string, string> = {
  ".env": "Line for .env",
  curl: "curl command",
  TypeScript: "TypeScript example",
  Python: "Python example",
  MCP: "MCP configuration",
};
