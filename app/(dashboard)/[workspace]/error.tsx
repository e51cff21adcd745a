"use client";

import { useEffect } from "react";
import { whenReachable } from "@/components/connection/service";
import { Button } from "@/components/ui/button";
import { EmptyState } from "@/components/ui/empty-state";
import { outageOf } from "@/lib/outage-digest";

/** A page that was loaded less than this ago is not reloaded automatically, because reloading has not helped. */
const settledMs = 10_000;

/** Shown when a page of the dashboard fails; the navigation stays. The code is also in the server's log. */
export default function ErrorPage({
  error,
  retry,
}: {
  error: Error & { digest?: string };
  retry: () => void;
}) {
  const outage = outageOf(error.digest);
  // A file of the page could not be loaded, because the service is unavailable or was upgraded.
  const lacksFile = error.name === "ChunkLoadError";
  useEffect(() => {
    if (!lacksFile || performance.now() < settledMs) return;
    void whenReachable().then(() => location.reload());
  }, [lacksFile]);
  return (
    <div role="alert">
      <EmptyState
        title="This page could not be shown"
        action={
          <Button variant="outline" onClick={lacksFile ? () => location.reload() : retry}>
            Try again
          </Button>
        }
      >
        {lacksFile
          ? "Part of this page could not be loaded. It opens by itself when Outlay can be reached."
          : `${outage ?? "Something went wrong on our side."} Recorded costs are not affected.`}
        {error.digest && !outage ? (
          <>
            {" "}
            If this happens again, give the operator of this service the code{" "}
            <code className="font-mono text-foreground">{error.digest}</code>.
          </>
        ) : null}
      </EmptyState>
    </div>
  );
}
