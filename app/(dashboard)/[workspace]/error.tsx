"use client";

import { Button } from "@/components/ui/button";
import { EmptyState } from "@/components/ui/empty-state";

/** A page of the dashboard that failed; the way to the others stays. The digest is the same as in the server's log. */
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
        Something went wrong on our side. What you recorded is safe.
        {error.digest ? (
          <>
            {" "}
            If it stays, tell whoever runs this service the code{" "}
            <code className="font-mono text-foreground">{error.digest}</code>.
          </>
        ) : null}
      </EmptyState>
    </div>
  );
}
