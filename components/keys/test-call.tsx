"use client";

import { useState } from "react";
import { Button } from "@/components/ui/button";
import { Code } from "@/components/ui/code-block";
import { callAsKey, type KeyAnswer } from "./call-as-key";
import { exampleRequest } from "./key-snippets";
import type { KeyView } from "./key-view";

/**
 * Calls the API with a new key from this browser and shows the answer. A key that may record sends a dry run, which stores
 * nothing; a key that may only read requests a summary.
 */
export function TestCall({ apiKey, secret }: { apiKey: KeyView; secret: string }) {
  const [outcome, setOutcome] = useState<KeyAnswer>();
  const [isPending, setPending] = useState(false);
  const { method, path, body } = exampleRequest(apiKey);
  const call = async () => {
    setPending(true);
    setOutcome(await callAsKey(secret, method, body ? `${path}?dry_run=true` : path, body));
    setPending(false);
  };
  return (
    <div className="grid gap-3 rounded-lg border p-3.5">
      <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2">
        <p className="min-w-0 flex-1 basis-56 text-muted-foreground text-sm">
          {body
            ? "Try the key with a dry run: the API answers as usual but stores nothing."
            : "Try the key by reading this month's summary."}
        </p>
        <Button variant="outline" size="sm" disabled={isPending} onClick={call}>
          {body ? "Send a test message" : "Send a test request"}
        </Button>
      </div>
      <div aria-live="polite" className="contents">
        {outcome ? (
          <>
            <p className={outcome.ok ? "text-sm text-success" : "text-destructive text-sm"}>
              {outcome.message}
            </p>
            {outcome.body ? (
              <Code
                code={outcome.body}
                language="json"
                label="The answer"
                className="max-h-48 rounded-md border bg-muted"
              />
            ) : null}
          </>
        ) : null}
      </div>
    </div>
  );
}
