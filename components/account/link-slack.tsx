"use client";

import { useState } from "react";
import { callApi } from "@/components/requests/api";
import { useMutation } from "@/components/requests/use-mutation";
import { Alert } from "@/components/ui/alert";
import { Button } from "@/components/ui/button";
import type { linkSlackUserRequest, slackLink } from "@/lib/contract/alerts/slack-links";

/** The button that links a Slack user to the reader. @param props.name what Slack calls the user */
export function LinkSlack({ token, name }: { token: string; name: string }) {
  const [isLinked, setLinked] = useState(false);
  const { run, isPending, message } = useMutation(
    () => callApi<typeof slackLink, typeof linkSlackUserRequest>("POST", "/api/v1/slack/links", { token }),
    { quiet: true, refresh: false },
  );
  if (isLinked)
    return (
      <p role="status" className="text-sm">
        {name} is linked to you. Click the button in Slack again to approve. You can unlink it on your page of
        the workspace, You.
      </p>
    );
  return (
    <div className="grid gap-3">
      <Button
        disabled={isPending}
        onClick={async () => {
          if (await run()) setLinked(true);
        }}
      >
        I am {name}: link
      </Button>
      {message ? <Alert variant="destructive">{message}</Alert> : null}
    </div>
  );
}
