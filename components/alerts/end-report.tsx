"use client";

import { useState } from "react";
import { callApi } from "@/components/requests/api";
import { useMutation } from "@/components/requests/use-mutation";
import { Alert } from "@/components/ui/alert";
import { Button } from "@/components/ui/button";
import type { endedReport } from "@/lib/contract/spend/weekly-report";

/** The button that ends a weekly report by its mail's link. */
export function EndReport({ token }: { token: string }) {
  const [isEnded, setEnded] = useState(false);
  const { run, isPending, message } = useMutation(
    () => callApi<typeof endedReport>("POST", `/api/v1/weekly-report/end?${new URLSearchParams({ token })}`),
    { quiet: true, refresh: false },
  );
  if (isEnded) return <p role="status">You are unsubscribed.</p>;
  return (
    <div className="grid gap-3">
      <Button
        disabled={isPending}
        onClick={async () => {
          if (await run()) setEnded(true);
        }}
      >
        Unsubscribe
      </Button>
      {message ? <Alert variant="destructive">{message}</Alert> : null}
    </div>
  );
}
