"use client";

import { useState } from "react";
import { callAsKey } from "@/components/keys/call-as-key";
import { anyKey, exampleRequest, writeKeySnippets } from "@/components/keys/key-snippets";
import { type ServiceAddresses, toKeyView } from "@/components/keys/key-view";
import type { NewSecret } from "@/components/keys/secret-dialog";
import { callApi } from "@/components/requests/api";
import { useMutation } from "@/components/requests/use-mutation";
import { Alert } from "@/components/ui/alert";
import { Button, buttonVariants } from "@/components/ui/button";
import { CodeBlock } from "@/components/ui/code-block";
import { Link } from "@/components/ui/link";
import { Secret } from "@/components/ui/secret";
import { Step } from "@/components/ui/step";
import { Tabs } from "@/components/ui/tabs";
import type { apiKeyWithSecret, createApiKeyRequest } from "@/lib/contract/access/api-keys";
import { FirstCost } from "./first-cost";

/**
 * The first steps for the user's own programs: create a key of the test environment, send the example message with it, see it
 * arrive, and continue with a live key. The example's cost is invented, so it is never recorded as a live cost.
 */
export function TryTheApi({
  workspace,
  canCreate,
  addresses,
}: {
  workspace: string;
  canCreate: boolean;
  addresses: ServiceAddresses;
}) {
  const [created, setCreated] = useState<NewSecret>();
  const [hasArrived, setArrived] = useState(false);
  const creation = useMutation(
    () =>
      callApi<typeof apiKeyWithSecret, typeof createApiKeyRequest>(
        "POST",
        `/api/v1/workspaces/${workspace}/api-keys`,
        { name: "Test key", permissions: ["log_usage", "read_summaries"], environment: "test" },
      ),
    { quiet: true, refresh: false },
  );
  const create = async () => {
    const key = await creation.run();
    if (key) setCreated({ apiKey: toKeyView(key), secret: key.secret });
  };
  const snippets = writeKeySnippets(created?.apiKey ?? anyKey, addresses, created?.secret);
  return (
    <div className="grid gap-8">
      <p>
        Record costs from your own code.{" "}
        <Link
          href={`/${workspace}`}
          className="text-muted-foreground text-sm underline underline-offset-4 hover:text-foreground"
        >
          Choose something else
        </Link>
      </p>
      <ol className="grid max-w-3xl gap-8">
        <Step number={1} title="Create a test key" isDone={created !== undefined}>
          {created ? (
            <div className="grid gap-2">
              <Secret secret={created.secret} label="secret" />
              <p className="text-muted-foreground text-sm">
                It is shown until you leave this page. {created.apiKey.summary}
              </p>
            </div>
          ) : (
            <div className="grid justify-items-start gap-3">
              <p className="text-muted-foreground text-sm">
                {canCreate
                  ? "What it records is test data, which counts toward no budget and no figure of live costs."
                  : "Viewers cannot create a key: ask a member of this workspace."}
              </p>
              {canCreate ? (
                <Button disabled={creation.isPending} onClick={create}>
                  Create a test key
                </Button>
              ) : null}
              {creation.message ? <Alert variant="destructive">{creation.message}</Alert> : null}
            </div>
          )}
        </Step>
        <Step number={2} title="Send a message with it" isDone={hasArrived}>
          <p className="pb-2 text-muted-foreground text-sm">
            {created
              ? "These examples contain your key. The message creates its project."
              : "Put the key into OUTLAY_API_KEY first. The message creates its project."}
          </p>
          <Tabs
            label="Ways to send a message"
            tabs={snippets.map(({ label, language, code }) => ({
              id: label,
              label,
              content: (
                <div className="grid gap-2">
                  <CodeBlock title={label} language={language} code={code} />
                  {label === "MCP" ? (
                    <p className="text-muted-foreground text-sm">
                      Claude Code reads it from .mcp.json, Cursor from .cursor/mcp.json. Then ask the
                      assistant to log some usage.
                    </p>
                  ) : null}
                </div>
              ),
            }))}
          />
          {created && !hasArrived ? <SendFromHere created={created} /> : null}
        </Step>
        <Step number={3} title="Watch it arrive" isDone={hasArrived}>
          <FirstCost
            workspace={workspace}
            environment="test"
            waitingFor="the test message"
            onArrived={() => setArrived(true)}
          />
        </Step>
        <Step number={4} title="Record real costs with a live key" isDone={false}>
          <div className="grid justify-items-start gap-3">
            <p className="text-muted-foreground text-sm">
              A live key takes the place of the test key; nothing else changes. Send what your program really
              uses.
            </p>
            <Link href={`/${workspace}/keys`} className={buttonVariants({ variant: "outline" })}>
              Go to Keys
            </Link>
          </div>
        </Step>
      </ol>
    </div>
  );
}

/** A button that sends the example message from the browser, for users without a terminal. The message is recorded. */
function SendFromHere({ created: { apiKey, secret } }: { created: NewSecret }) {
  const [problem, setProblem] = useState<string>();
  const [isPending, setPending] = useState(false);
  const { method, path, body } = exampleRequest(apiKey);
  const send = async () => {
    setPending(true);
    const answer = await callAsKey(secret, method, path, body);
    setPending(false);
    setProblem(answer.ok ? undefined : answer.message);
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
