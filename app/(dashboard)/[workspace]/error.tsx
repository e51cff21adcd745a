"use client";

import { Button } from "@/components/ui/button";
import { EmptyState } from "@/components/ui/empty-state";

/** Shown when a page of the dashboard fails; the navigation stays. The code is also in the server's log. */
export default function ErrorPage({
  error,
  retry,
}: {
  error: Error & { digest?: string };
  retry: () => void;
}) {
  return (
    <div role="alert">
      <EmptyState
        title="This page could not be shown"
        action={
          <Button variant="outline" onClick={retry}>
            Try again
          </Button>
        }
      >
        Something went wrong on our side. Recorded costs are not affected.
        {error.digest ? (
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
