/** The headers of every response. `next.config.ts` adds them to what Next answers itself. */
export const commonHeaders: Record<string, string> = {
  // Browsers must not run recorded text as a page or a script.
  "X-Content-Type-Options": "nosniff",
  // Older browsers use this instead of frame-ancestors.
  "X-Frame-Options": "DENY",
  // Paths contain invitation tokens, codes and slugs, which other sites must not learn.
  "Referrer-Policy": "same-origin",
  "Permissions-Policy":
    "accelerometer=(), browsing-topics=(), camera=(), display-capture=(), geolocation=(), gyroscope=(), magnetometer=(), microphone=(), midi=(), payment=(), usb=()",
  // For responses that are not pages: they load nothing and cannot be framed. Pages have a policy of their own.
  "Content-Security-Policy":
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
};
