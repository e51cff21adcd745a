"use client";

import { Notice } from "@/components/shell/notice";
import { Button } from "@/components/ui/button";

/** A page that failed. The digest is the same as in the server's log. */
export default function ErrorPage({
  error,
  reset,
}: {
  error: Error & { digest?: string };
  reset: () => void;
}) {
  return (
    <Notice title="This page could not be shown" actions={<Button onClick={reset}>Try again</Button>}>
      <p>Something went wrong on our side. What you recorded is safe.</p>
      {error.digest ? (
        <p className="pt-2 text-sm">
          If it stays, tell whoever runs this service the code{" "}
          <code className="font-mono">{error.digest}</code>.
        </p>
      ) : null}
    </Notice>
  );
}
