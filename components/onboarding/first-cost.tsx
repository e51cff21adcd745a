"use client";

import { CircleCheck } from "lucide-react";
import { useRouter } from "next/navigation";
import { useState } from "react";
import { Money } from "@/components/figures/money";
import { Time } from "@/components/figures/time";
import { callApi } from "@/components/requests/api";
import { usePoll } from "@/components/requests/use-poll";
import { Button } from "@/components/ui/button";
import { Link } from "@/components/ui/link";
import { Waiting } from "@/components/ui/step";
import type { ActivityRow, activityList } from "@/lib/contract/spend/activity";

/**
 * Polls for the first message of an environment (see `usePoll`), then shows it with a link to the overview.
 * @param props.waitingFor the words for what is awaited, such as "the first cost"
 */
export function FirstCost({
  workspace,
  environment,
  waitingFor,
  onArrived,
}: {
  workspace: string;
  environment: "live" | "test";
  waitingFor: string;
  onArrived?: () => void;
}) {
  const router = useRouter();
  const [message, setMessage] = useState<ActivityRow>();
  usePoll(async (signal) => {
    const path = `/api/v1/workspaces/${workspace}/activity?period=all&environment=${environment}&limit=1`;
    const { activity } = await callApi<typeof activityList>("GET", path, undefined, signal);
    if (!activity[0]) return;
    setMessage(activity[0]);
    onArrived?.();
  }, message !== undefined);
  return (
    <div aria-live="polite" className="w-full max-w-3xl">
      {message ? (
        <div className="grid justify-items-start gap-3 transition-opacity duration-120 starting:opacity-0">
          <p className="flex items-center gap-2 text-sm">
            <CircleCheck aria-hidden="true" className="size-4 text-success" />
            {environment === "test"
              ? "The message is here, as test data. It counts toward no budget and no figure of live costs."
              : "Your first cost is recorded."}
          </p>
          <div className="grid w-full grid-cols-[minmax(0,1fr)_auto] items-baseline gap-x-4 rounded-lg border px-4 py-3">
            <span className="truncate font-medium">{message.label}</span>
            <Money usd={message.amount_usd} figure="amount_usd" />
            <span className="truncate text-muted-foreground text-sm">
              {message.project_name}
              {message.cost_status === "unpriced" ? ", no price known yet" : null}
            </span>
            <Time at={message.created_at} className="text-muted-foreground text-sm" />
          </div>
          {environment === "live" ? (
            <Button onClick={() => router.refresh()}>Go to the overview</Button>
          ) : (
            <Link href={`/${workspace}?environment=test`} className="text-sm underline underline-offset-4">
              Show the test data
            </Link>
          )}
        </div>
      ) : (
        <Waiting>{`Waiting for ${waitingFor}. It will appear here.`}</Waiting>
      )}
    </div>
  );
}
