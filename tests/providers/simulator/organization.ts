import type { IncomingMessage } from "node:http";
import { LosslessNumber } from "lossless-json";
import { parseDecimal, shiftDecimal, toText } from "@/lib/decimal";
import type { Destinations } from "./destinations";
import type { Limits } from "./limits";

/** A line of a true bill. Amounts are decimal text of dollars. */
export type TrueLine = {
  /** `YYYY-MM-DD`. */
  day: string;
  model: string;
  unit: "input_tokens" | "cached_tokens" | "cache_write_1h_tokens" | "output_tokens" | "web_searches";
  key: string;
  /** The e-mail address of who used it; nobody where it is left out. */
  user?: string;
  tier?: "batch";
  usd: string;
  /** Before discounts; the same where it is left out. */
  list?: string;
  quantity: number;
};

/** What a simulated organization is at each of its providers, and how these behave. A test changes it. */
export type Organization = {
  key: string;
  bill: TrueLine[];
  /** Whether Anthropic gives it the newer report. */
  hasAnalytics: boolean;
  /** Older answers of OpenAI lack some fields. */
  isOld: boolean;
  /** Buckets or rows of a page at most, whatever is asked for. */
  pageSize: number;
  /** Answers of 429 to come, each with this Retry-After. */
  throttled: number;
  retryAfter: string;
  /** What a refused key is told; `{key}` stands for it. */
  refusal: string;
  /** Members with a seat, and when each last used it: `YYYY-MM-DD`, or never. */
  seats: { email: string; lastUsed: string | null }[];
  /** What can be limited, and the limits. */
  limits: Limits;
  /** Where its providers send their telemetry. */
  destinations: Destinations;
  /** Called before each answer, which waits for it. */
  beforeAnswer: (request: URL) => void | Promise<void>;
};

/** What an endpoint answers. */
export type Answer = { status: number; body: unknown; headers?: Record<string, string> };
/** A request to an organization; `body` is what was posted. */
export type Asked = {
  organization: Organization;
  url: URL;
  headers: IncomingMessage["headers"];
  // biome-ignore lint/suspicious/noExplicitAny: each endpoint checks what it uses
  body: any;
};

/** A number with all its digits, as providers write dollars. */
export const number = (text: string) => new LosslessNumber(text);
/** Decimal text of cents, as Anthropic writes amounts. */
export const centsText = (usd: string) => toText(shiftDecimal(parseDecimal(usd), 2));

export const dayMs = 86_400_000;
export const dayAfter = (day: string) => new Date(Date.parse(day) + dayMs).toISOString().slice(0, 10);

export function daysBetween(from: string, until: string): string[] {
  const days: string[] = [];
  for (let day = from; day < until; day = dayAfter(day)) days.push(day);
  return days;
}

/** Cuts a list into pages whose names are bound to their query: with another query, they are refused. */
export function pageOf<T>(
  items: T[],
  { url, organization }: Asked,
  limit: number,
): { page: T[]; next: string | null } | null {
  const query = new URLSearchParams(url.searchParams);
  const token = query.get("page");
  query.delete("page");
  const bound = Buffer.from(query.toString()).toString("base64url");
  const [offset = "0", of] = token?.split(".") ?? ["0", bound];
  if (of !== bound) return null;
  const size = Math.min(limit, organization.pageSize);
  const end = Number(offset) + size;
  return {
    page: items.slice(Number(offset), end),
    next: end < items.length ? `${end}.${bound}` : null,
  };
}
