"use client";

import { useState } from "react";
import { callAsKey } from "@/components/keys/call-as-key";
import type { exampleRequest } from "@/components/keys/key-snippets";
import { Alert } from "@/components/ui/alert";
import { Button } from "@/components/ui/button";

/** A button that sends the example message from the browser, for users without a terminal. The message is recorded. */
export function SendFirstMessage({
  secret,
  request: { method, path, body },
  onSent,
}: {
  secret: string;
  request: ReturnType<typeof exampleRequest>;
  onSent: () => void;
}) {
  const [problem, setProblem] = useState<string>();
  const [isPending, setPending] = useState(false);
  const send = async () => {
    setPending(true);
    const answer = await callAsKey(secret, method, path, body);
    setPending(false);
    setProblem(answer.ok ? undefined : answer.message);
    if (answer.ok) onSent();
  };
  return (
    <div className="grid justify-items-start gap-2 pt-3">
      <p className="flex flex-wrap items-center gap-x-3 gap-y-2 text-muted-foreground text-sm">
        No terminal?
        <Button variant="outline" size="sm" disabled={isPending} onClick={send}>
          Send it from here
        </Button>
      </p>
      {problem ? <Alert variant="destructive">{problem}</Alert> : null}
    </div>
  );
}
