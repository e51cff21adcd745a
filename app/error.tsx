"use client";

import { Notice } from "@/components/shell/notice";
import { Button } from "@/components/ui/button";
import { outageOf } from "@/lib/outage-digest";

/** Shown when a page fails. The code is also in the server's log. */
export default function ErrorPage({
  error,
  reset,
}: {
  error: Error & { digest?: string };
  reset: () => void;
}) {
  const outage = outageOf(error.digest);
  if (outage)
    return (
      <Notice
        title="This page cannot be shown at the moment"
        actions={<Button onClick={() => location.reload()}>Try again</Button>}
      >
        <p>{outage} Recorded costs are not affected, and you stay signed in.</p>
      </Notice>
    );
  return (
    <Notice title="This page could not be shown" actions={<Button onClick={reset}>Try again</Button>}>
      <p>Something went wrong on our side. Recorded costs are not affected.</p>
      {error.digest ? (
        <p className="pt-2 text-sm">
          If this happens again, give the operator of this service the code{" "}
          <code className="font-mono">{error.digest}</code>.
        </p>
      ) : null}
    </Notice>
  );
}
