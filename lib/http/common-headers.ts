/** What every answer carries, whatever it is. `next.config.ts` gives the same to what Next answers by itself. */
export const commonHeaders: Record<string, string> = {
  // Recorded text is never run as a page or a script.
  "X-Content-Type-Options": "nosniff",
  // Older browsers know this in place of frame-ancestors.
  "X-Frame-Options": "DENY",
  // Addresses hold invitations, codes and slugs. Other sites are not told them.
  "Referrer-Policy": "same-origin",
  "Permissions-Policy":
    "accelerometer=(), browsing-topics=(), camera=(), display-capture=(), geolocation=(), gyroscope=(), magnetometer=(), microphone=(), midi=(), payment=(), usb=()",
  // For what is no page: it may load nothing and stand in no frame. Pages have a policy of their own.
  "Content-Security-Policy":
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
};
