import pino from "pino";
import { env } from "@/lib/env";

/**
 * The service's log: one JSON line an event on standard output. Credentials are redacted wherever they might slip in;
 * code should still never pass them.
 */
export const log = pino({
  level: env().LOG_LEVEL,
  base: null,
  timestamp: pino.stdTimeFunctions.isoTime,
  redact: {
    paths: [
      "authorization",
      "cookie",
      "secret",
      "password",
      "token",
      "*.authorization",
      "*.cookie",
      "*.secret",
      "*.password",
      "*.token",
    ],
    censor: "[redacted]",
  },
});
