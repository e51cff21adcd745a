"use client";

import { useState } from "react";
import { callApi } from "@/components/requests/api";
import { usePoll } from "@/components/requests/use-poll";
import type { ActivityRow, activityList } from "@/lib/contract/spend/activity";

/**
 * Polls for the first message of a workspace until it is there; see `usePoll`.
 * @returns the `message`, and `poll`, which looks for it at once
 */
export function useFirstMessage(workspace: string): { message: ActivityRow | undefined; poll: () => void } {
  const [message, setMessage] = useState<ActivityRow>();
  const poll = usePoll(async (signal) => {
    const path = `/api/v1/workspaces/${workspace}/activity?period=all&limit=1`;
    const { activity } = await callApi<typeof activityList>("GET", path, undefined, signal);
    if (activity[0]) setMessage(activity[0]);
  }, message !== undefined);
  return { message, poll };
}
