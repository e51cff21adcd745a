import type { z } from "zod";
import { exactText } from "@/components/amount";
import type { apiKey } from "@/lib/contract/api-keys";

type ApiKey = z.output<typeof apiKey>;

/** An API key with its money as exact text, so that it can go from a server component into an island. */
export type KeyView = Omit<ApiKey, "monthly_limit" | "spent"> & {
  /** USD. */
  monthly_limit: string | null;
  /** USD in the current UTC month. */
  spent: string;
};

/** Where programs reach this service. */
export type ServiceAddresses = {
  /** Without a trailing slash. */
  api: string;
  /** The agent tools' endpoint. */
  mcp: string;
};

/** The element that the focus goes to when a key leaves the list it was in. */
export const keysSentenceId = "keys-sentence";

/** A key of an answer (the service's or the API's) as components take it. */
export function viewKey(key: ApiKey): KeyView {
  return {
    ...key,
    monthly_limit: key.monthly_limit === null ? null : exactText(key.monthly_limit),
    spent: exactText(key.spent),
  };
}

/** The part of its monthly limit that a key has used; null where it has none. For showing alone: it is a float. */
export function limitUsed({ spent, monthly_limit: limit }: KeyView): number | null {
  if (limit === null) return null;
  // A limit of nothing is used up from the start.
  return Number(limit) === 0 ? 1 : Number(spent) / Number(limit);
}
