const reasons: Record<string, string> = {
  ENOTFOUND: "The host's name is not known.",
  EAI_AGAIN: "The host's name could not be looked up.",
  ECONNREFUSED: "The host refused the connection.",
  ECONNRESET: "The host closed the connection before it answered.",
  EHOSTUNREACH: "The host cannot be reached.",
  ENETUNREACH: "The host's network cannot be reached.",
  ETIMEDOUT: "The connection timed out.",
};

/** The code of an error of Node, such as `ECONNREFUSED`; empty without one. */
export const codeOf = (error: unknown): string =>
  error instanceof Error && "code" in error ? String(error.code) : "";

/** Why a host could not be reached, as a sentence; undefined for other errors. */
export const connectionFailure = (error: unknown): string | undefined => reasons[codeOf(error)];
