"use client";

import { Time } from "@/components/figures/time";
import { callApi } from "@/components/requests/api";
import { useMutation } from "@/components/requests/use-mutation";
import { Button } from "@/components/ui/button";
import type { SlackLink } from "@/lib/contract/alerts/slack-links";

/** The Slack users whose clicks decide as the reader, each with a button that unlinks it. */
export function SlackLinks({ workspace, links }: { workspace: string; links: SlackLink[] }) {
  const { run, isPending } = useMutation(
    ({ id }: SlackLink) => callApi("DELETE", `/api/v1/workspaces/${workspace}/slack-links/${id}`),
    { done: "Unlinked. Clicks of this Slack user decide nothing any more." },
  );
  return (
    <ul aria-label="Slack users" className="grid text-sm">
      {links.map((link) => (
        <li
          key={link.id}
          className="flex flex-wrap items-center justify-between gap-x-4 gap-y-1 border-t py-2.5"
        >
          <span className="grid min-w-0">
            <span className="font-medium [overflow-wrap:anywhere]">{link.slack_name}</span>
            <span className="text-muted-foreground text-xs [overflow-wrap:anywhere]">
              decides as you in the channel {link.channel_name}, linked <Time at={link.created_at} />
            </span>
          </span>
          <Button variant="outline" size="sm" disabled={isPending} onClick={() => run(link)}>
            Unlink<span className="sr-only"> {link.slack_name}</span>
          </Button>
        </li>
      ))}
    </ul>
  );
}
