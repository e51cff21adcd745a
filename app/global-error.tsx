"use client";

import "./globals.css";
import ErrorPage from "./error";

/** Shown when the root layout fails: the error page in a document of its own. */
export default function GlobalError(props: { error: Error & { digest?: string }; reset: () => void }) {
  return (
    <html lang="en">
      <body className="min-h-dvh font-sans text-[15px] leading-relaxed">
        <ErrorPage {...props} />
      </body>
    </html>
  );
}
