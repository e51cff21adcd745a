"use client";

import { Download } from "lucide-react";
import { useState } from "react";
import { Button } from "@/components/ui/button";
import { toast, toastProblem } from "@/components/ui/toaster";

const problems: Record<number, string> = {
  401: "Your session is over. Sign in again to export.",
  403: "Only an admin can export the workspace. Ask one of them.",
  404: "This workspace no longer exists, or you are no longer a member.",
  429: "One of your exports is still being sent. Start another when it is done.",
  503: "The service is busy with other exports, or cannot read its database. Try again in a minute.",
};

/** Downloads the whole workspace as an archive. If the service refuses, a notice says why, because the browser would not. */
export function ExportWorkspace({ slug }: { slug: string }) {
  const [isStarting, setStarting] = useState(false);
  const href = `/api/v1/workspaces/${slug}/archive`;
  const start = async () => {
    setStarting(true);
    const answer = await fetch(href, { method: "HEAD" }).catch(() => undefined);
    setStarting(false);
    if (!answer?.ok) {
      toastProblem(
        problems[answer?.status ?? 0] ?? "The service could not be reached. Try again in a moment.",
      );
      return;
    }
    Object.assign(document.createElement("a"), { href, download: "" }).click();
    toast("The download begins. A large workspace takes a few minutes.");
  };
  return (
    <Button variant="outline" disabled={isStarting} onClick={start} className="justify-self-start">
      <Download aria-hidden="true" />
      Export everything
    </Button>
  );
}
