import { env } from "@/lib/env";
import { readRetryAfter } from "@/lib/outside/backoff";
import { internet, isAllowedHost } from "@/lib/outside/connect";
import { connectionFailure } from "@/lib/outside/connection-failure";
import { askOutside } from "@/lib/outside/get";
import type { AskOptions } from "./ask";
import type { BucketFolder } from "./bucket-address";
import { ProviderFailure, ProviderRefusal } from "./provider";
import { signS3 } from "./sign-s3";

/** The most bytes of a file or a page, and the most files of a folder. */
const maxBytes = 64 * 1024 * 1024;
const maxFiles = 20_000;
const timeoutMs = 60_000;

/** A file of a folder, by its whole name in the bucket. */
export type BucketFile = { name: string; changedAt: string };

/** Lists the files of a folder in a bucket, and reads them. */
export type Bucket = { list: () => Promise<BucketFile[]>; read: (name: string) => Promise<Buffer> };

/**
 * Opens a folder. Its address was chosen by an admin of a workspace, so its host has to be public, or named in BUCKET_HOSTS.
 * @param options.key of S3 `ID:SECRET`, of Azure a SAS token
 * @returns functions that throw ProviderRefusal and ProviderFailure, with the store's own words
 */
export function openBucket(
  { endpoint, prefix, store, region }: BucketFolder,
  { key, signal, network = internet }: AskOptions,
): Bucket {
  const allowed = env().BUCKET_HOSTS;
  const [keyId = "", secret = ""] = key.split(/:(.*)/s);
  const sas = new URLSearchParams(key.replace(/^\?/, ""));
  const hidden = store === "s3" ? [secret] : [key, sas.get("sig") ?? key];
  const clean = (text: string) =>
    hidden
      .reduce((left, word) => left.replaceAll(word, "…"), text)
      .replaceAll(/\p{Cc}+/gu, " ")
      .toWellFormed()
      .trim()
      .slice(0, 400);
  const get = async (url: URL): Promise<Buffer> => {
    if (url.protocol !== "https:" && !isAllowedHost(url.hostname, allowed))
      throw new ProviderFailure("Its address must begin with https.");
    if (store === "azure") for (const [name, value] of sas) url.searchParams.append(name, value);
    const limit = AbortSignal.timeout(timeoutMs);
    const answer = await askOutside(url, {
      ...{ network, allowed, maxBytes, accept: "*/*", signal: AbortSignal.any([limit, signal]) },
      headers:
        store === "s3"
          ? signS3(url, { keyId, secret, region }, new Date())
          : { "x-ms-version": "2023-11-03" },
    }).catch((error: unknown) => {
      if (signal.aborted) throw error;
      const why = connectionFailure(error) ?? (error instanceof Error ? error.message : String(error));
      throw new ProviderFailure(limit.aborted ? "It did not answer in time." : clean(why));
    });
    const { status, retryAfter, body } = answer;
    if (status === 200) return body;
    const text = body.toString("utf8");
    const words = ["Code", "Message"].flatMap((name) => elementsOf(text, name)[0] ?? []).join(": ");
    const message = clean(`It answers ${status}: ${words || text || "nothing"}`);
    if (status >= 300 && status < 500 && ![408, 425, 429].includes(status))
      throw new ProviderRefusal(status, message);
    throw new ProviderFailure(message, readRetryAfter(retryAfter, Date.now()));
  };
  const inFolder = prefix === "" ? "" : `${prefix}/`;
  return {
    list: async () => {
      const files: BucketFile[] = [];
      let marker: string | undefined;
      do {
        const url = new URL(endpoint);
        const query =
          store === "s3"
            ? { "list-type": "2", prefix: inFolder, ...(marker && { "continuation-token": marker }) }
            : {
                restype: "container",
                comp: "list",
                maxresults: "1000",
                prefix: inFolder,
                ...(marker && { marker }),
              };
        for (const [name, value] of Object.entries(query)) url.searchParams.append(name, value);
        const text = (await get(url)).toString("utf8");
        for (const entry of elementsOf(text, store === "s3" ? "Contents" : "Blob"))
          files.push({
            name: unescaped(elementsOf(entry, store === "s3" ? "Key" : "Name")[0] ?? ""),
            changedAt: new Date(
              elementsOf(entry, store === "s3" ? "LastModified" : "Last-Modified")[0] ?? 0,
            ).toISOString(),
          });
        const [next] = elementsOf(text, store === "s3" ? "NextContinuationToken" : "NextMarker");
        if (next === marker && next !== undefined) throw new ProviderFailure("Its list goes in a circle.");
        marker = next && unescaped(next);
        if (files.length > maxFiles)
          throw new ProviderFailure(
            `The folder has more than ${maxFiles} files. Name a folder of one export.`,
          );
      } while (marker);
      return files;
    },
    read: (name) => {
      const url = new URL(endpoint);
      url.pathname = `${endpoint.pathname.replace(/\/$/, "")}/${name.split("/").map(encodeURIComponent).join("/")}`;
      return get(url);
    },
  };
}

/** The contents of an XML element, wherever it is. */
const elementsOf = (xml: string, name: string): string[] =>
  [...xml.matchAll(new RegExp(`<${name}(?: [^>]*)?>([\\s\\S]*?)</${name}>`, "g"))].flatMap(
    ([, content]) => content || [],
  );

const entities: Record<string, string> = { lt: "<", gt: ">", quot: '"', apos: "'", amp: "&" };

const unescaped = (text: string): string =>
  text.replace(/&(?:#(\d+)|#x([\da-f]+)|(\w+));/gi, (whole, decimal, hex, name) =>
    name
      ? (entities[name] ?? whole)
      : String.fromCodePoint(Number.parseInt(decimal ?? hex, decimal ? 10 : 16)),
  );
