"use client";

import { CircleCheck } from "lucide-react";
import { useRouter } from "next/navigation";
import { useEffect, useRef, useState } from "react";
import { Money } from "@/components/figures/money";
import { Time } from "@/components/figures/time";
import { callAsKey } from "@/components/keys/call-as-key";
import { anyKey, exampleRequest, writeKeySnippets } from "@/components/keys/key-snippets";
import { type KeyView, type ServiceAddresses, toKeyView } from "@/components/keys/key-view";
import type { NewSecret } from "@/components/keys/secret-dialog";
import { callApi } from "@/components/requests/api";
import { useMutation } from "@/components/requests/use-mutation";
import { usePoll } from "@/components/requests/use-poll";
import { Alert } from "@/components/ui/alert";
import { Button } from "@/components/ui/button";
import { CodeBlock } from "@/components/ui/code-block";
import { Secret } from "@/components/ui/secret";
import { Step, Waiting } from "@/components/ui/step";
import { Tabs } from "@/components/ui/tabs";
import type { apiKeyWithSecret, createApiKeyRequest } from "@/lib/contract/access/api-keys";
import type { ActivityRow, activityList } from "@/lib/contract/spend/activity";
import { type AlertSetup, hasAlerts, SetUpAlerts } from "./set-up-alerts";

/**
 * The first steps of a workspace: create a key, send a message with it, see the message arrive, and set up alerts.
 * @param props.userName of who looks at it; null where they have none
 * @param props.existing an active key of the workspace, whose secret is not known; null when there is none
 */
export function FirstSteps({
  workspace,
  userName,
  canCreate,
  existing,
  addresses,
  alerts,
}: {
  workspace: string;
  userName: string | null;
  canCreate: boolean;
  existing: Pick<KeyView, "name" | "prefix" | "last_four"> | null;
  addresses: ServiceAddresses;
  alerts: AlertSetup;
}) {
  const router = useRouter();
  const [created, setCreated] = useState<NewSecret>();
  const { message, poll } = useFirstMessage(workspace);
  const creation = useMutation(
    () =>
      callApi<typeof apiKeyWithSecret, typeof createApiKeyRequest>(
        "POST",
        `/api/v1/workspaces/${workspace}/api-keys`,
        { name: "First key", permissions: ["log_usage", "read_summaries"] },
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
      <Intro userName={userName} isRecorded={message !== undefined} hasAlerts={hasAlerts(alerts)} />
      <ol className="grid max-w-3xl gap-8">
        <Step number={1} title="Create a key" isDone={Boolean(created ?? existing)}>
          {created ? (
            <div className="grid gap-2">
              <Secret secret={created.secret} label="secret" />
              <p className="text-muted-foreground text-sm">
                Store it now: it is shown only once. {created.apiKey.summary} You can change this under Keys.
              </p>
            </div>
          ) : (
            <div className="grid justify-items-start gap-3">
              <p className="text-muted-foreground text-sm">
                {existing ? (
                  <>
                    {existing.name} (
                    <code className="font-mono text-xs">
                      {existing.prefix}…{existing.last_four}
                    </code>
                    ) exists already. Use its secret, or create another key.
                  </>
                ) : canCreate ? (
                  "Programs use a key to record costs. This key may log usage and read summaries in every project."
                ) : (
                  "Programs use a key to record costs. Viewers cannot create one: ask a member of this workspace."
                )}
              </p>
              {canCreate ? (
                <Button
                  variant={existing ? "outline" : "default"}
                  disabled={creation.isPending}
                  onClick={create}
                >
                  {existing ? "Create another key" : "Create a key"}
                </Button>
              ) : null}
              {creation.message ? <Alert variant="destructive">{creation.message}</Alert> : null}
            </div>
          )}
        </Step>
        <Step number={2} title="Send a message with it" isDone={message !== undefined}>
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
          {created && !message ? (
            <SendFirstMessage
              secret={created.secret}
              request={exampleRequest(created.apiKey)}
              onSent={poll}
            />
          ) : null}
        </Step>
        <Step number={3} title="Watch it arrive" isDone={message !== undefined}>
          <div aria-live="polite">
            {message ? (
              <FirstMessage message={message} onContinue={() => router.refresh()} />
            ) : (
              <Waiting>Waiting for the first message. It will appear here.</Waiting>
            )}
          </div>
        </Step>
        <SetUpAlerts number={4} workspace={workspace} alerts={alerts} />
      </ol>
    </div>
  );
}

/** What is true of the workspace, and what is left to do. */
function Intro({
  userName,
  isRecorded,
  hasAlerts,
}: {
  userName: string | null;
  isRecorded: boolean;
  hasAlerts: boolean;
}) {
  const rest = hasAlerts
    ? "All four steps are done: the overview shows it, and alerts tell you what to look at."
    : "The overview shows it. One step is left, the alerts, which you can also set up later.";
  return (
    <div>
      <p className="text-lg sm:text-xl">
        {userName ? `Welcome, ${userName}. ` : ""}
        {isRecorded ? "Your first cost is recorded." : "Nothing is recorded here yet."}
      </p>
      <p className="mt-1 text-muted-foreground">
        {isRecorded
          ? rest
          : "Three steps show you your first figures, and a fourth sets up alerts. They take a minute or two."}
      </p>
    </div>
  );
}

/** The first message of a workspace, with a button to the overview. */
function FirstMessage({ message, onContinue }: { message: ActivityRow; onContinue: () => void }) {
  const element = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // In braces, because newer browsers return a promise, which React would take for a cleanup function.
    element.current?.scrollIntoView({ block: "nearest" });
  }, []);
  return (
    <div
      ref={element}
      className="grid justify-items-start gap-3 transition-opacity duration-120 starting:opacity-0"
    >
      <p className="flex items-center gap-2 text-sm">
        <CircleCheck aria-hidden="true" className="size-4 text-success" />
        The first message is here.
      </p>
      <div className="grid w-full grid-cols-[minmax(0,1fr)_auto] items-baseline gap-x-4 rounded-lg border px-4 py-3">
        <span className="truncate font-medium">{message.label}</span>
        <Money usd={message.amount_usd} figure="amount_usd" />
        <span className="truncate text-muted-foreground text-sm">
          {message.project_name}
          {message.environment === "test" ? ", test data" : null}
          {message.cost_status === "unpriced" ? ", no price known yet" : null}
        </span>
        <Time at={message.created_at} className="text-muted-foreground text-sm" />
      </div>
      <Button onClick={onContinue}>Go to the overview</Button>
    </div>
  );
}

/** A button that sends the example message from the browser, for users without a terminal. The message is recorded. */
function SendFirstMessage({
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

/**
 * Polls for the first message of a workspace until it is there; see `usePoll`.
 * @returns the `message`, and `poll`, which looks for it at once
 */
function useFirstMessage(workspace: string): { message: ActivityRow | undefined; poll: () => void } {
  const [message, setMessage] = useState<ActivityRow>();
  const poll = usePoll(async (signal) => {
    const path = `/api/v1/workspaces/${workspace}/activity?period=all&limit=1`;
    const { activity } = await callApi<typeof activityList>("GET", path, undefined, signal);
    if (activity[0]) setMessage(activity[0]);
  }, message !== undefined);
  return { message, poll };
}
