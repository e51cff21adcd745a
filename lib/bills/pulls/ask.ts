import { type NumberStringifier, parse, stringify } from "lossless-json";
import { z } from "zod";
import { ExactNumber } from "@/lib/contract/values/exact-number";
import { env } from "@/lib/env";
import { readRetryAfter } from "@/lib/outside/backoff";
import { internet, type OutsideNetwork } from "@/lib/outside/connect";
import { connectionFailure } from "@/lib/outside/connection-failure";
import { askOutside } from "@/lib/outside/get";
import { type Ask, type Provider, ProviderFailure, ProviderRefusal } from "./provider";

/** Limits of one answer: a week of a large organization, by line and key, is 10 MB. */
const maxBytes = 64 * 1024 * 1024;
const timeoutMs = 60_000;
/** The most requests of one pull: none needs so many, and one that pages in a circle ends. */
const maxRequests = 2_000;
const maxWords = 400;

/** Statuses of refusals that pass by themselves: a request timeout, too early, too many requests. */
const passing = new Set([408, 425, 429]);

export type AskOptions = { key: string; signal: AbortSignal; network?: OutsideNetwork };

/**
 * Makes a function that asks a provider with a key: at its own address, or at the one in PROVIDER_URLS. People who add an account
 * choose no address, so only whoever runs the service can have internal ones asked.
 * @param id of the provider, as in PROVIDER_URLS
 */
export function askerOf(
  id: string,
  provider: Provider,
  { key, signal, network = internet }: AskOptions,
): Ask {
  const address = env().PROVIDER_URLS.urls.get(id);
  const allowed = address === undefined ? [] : [new URL(address).hostname.replace(/^\[|\]$/g, "")];
  let requests = 0;
  /** A provider's text may repeat the key. */
  const clean = (text: string) =>
    text
      .replaceAll(key, "…")
      .replaceAll(/\p{Cc}+/gu, " ")
      .toWellFormed()
      .trim()
      .slice(0, maxWords);
  return async (path, query, schema, headers = {}, body, method) => {
    requests += 1;
    if (requests > maxRequests) throw new ProviderFailure(`It has more than ${maxRequests} pages.`);
    const url = new URL(`${address ?? provider.url}${path}`);
    for (const [name, value] of query) url.searchParams.append(name, value);
    const limit = AbortSignal.timeout(timeoutMs);
    const answer = await askOutside(url, {
      network,
      allowed,
      maxBytes,
      accept: "application/json",
      headers: { ...provider.authorize(key), ...headers },
      ...(body && { json: stringify(body, undefined, undefined, [exactDigits]) ?? "{}" }),
      ...(method && { method }),
      signal: AbortSignal.any([limit, signal]),
    }).catch((error: unknown) => {
      if (signal.aborted) throw error;
      const why = connectionFailure(error) ?? (error instanceof Error ? error.message : String(error));
      throw new ProviderFailure(limit.aborted ? "It did not answer in time." : clean(why));
    });
    const { status, retryAfter } = answer;
    const text = answer.body.toString("utf8");
    if (status < 200 || status > 299) {
      const words = clean(`It answers ${status}: ${wordsOf(text)}`);
      // GitHub also answers 403 to clients that exceed its rate limit.
      const isPassing = passing.has(status) || retryAfter !== undefined;
      if (status >= 400 && status < 500 && !isPassing) throw new ProviderRefusal(status, words);
      throw new ProviderFailure(words, readRetryAfter(retryAfter, Date.now()));
    }
    const parsed = schema.safeParse(text === "" ? null : readJson(text));
    if (parsed.success) return parsed.data;
    const [issue] = parsed.error.issues;
    const place = issue?.path.join(".") || "It";
    throw new ProviderFailure(clean(`Its answer cannot be read: ${place} ${issue?.message ?? ""}`));
  };
}

/** Writes an `ExactNumber` with all its digits. */
const exactDigits: NumberStringifier = {
  test: (value) => value instanceof ExactNumber,
  stringify: (value) => (value as ExactNumber).text,
};

/** Reads JSON with all digits of its numbers. @throws ProviderFailure */
function readJson(text: string): unknown {
  try {
    return parse(text, undefined, (number) => new ExactNumber(number));
  } catch {
    throw new ProviderFailure("Its answer is not JSON.");
  }
}

const refusalBody = z.union([
  z.object({ error: z.object({ message: z.string() }) }).transform(({ error }) => error.message),
  z.object({ error: z.string() }).transform(({ error }) => error),
  z.object({ message: z.string() }).transform(({ message }) => message),
]);

/** What a provider says in the body of a refusal. */
function wordsOf(text: string): string {
  try {
    return refusalBody.parse(JSON.parse(text));
  } catch {
    return text.slice(0, maxWords).trim() || "nothing";
  }
}
