/** Where a folder of exports lies. `endpoint`: the store, with the bucket or container. `prefix`: of the names in it, without a slash at its ends. */
export type BucketFolder = { endpoint: URL; prefix: string; store: "s3" | "azure"; region: string };

/**
 * Reads the address of a folder: the store, the bucket (or container) and the path in it, such as
 * `https://s3.eu-central-1.amazonaws.com/bucket/exports`, `https://storage.googleapis.com/bucket` or
 * `https://account.blob.core.windows.net/container/exports`.
 * @param store that of the provider
 * @returns undefined where the address names no bucket
 */
export function readBucketFolder(address: string, store: "s3" | "azure"): BucketFolder | undefined {
  const url = URL.parse(address);
  if (!url || !/^https?:$/.test(url.protocol) || url.search || url.hash || url.username) return undefined;
  const [host, path] = [url.hostname, url.pathname.split("/").filter(Boolean).map(decodeURIComponent)];
  // `bucket.s3.region.amazonaws.com` has the bucket in its host.
  const [, own] = /^(.+)\.s3[.-][a-z0-9-]*\.?amazonaws\.com$/.exec(host) ?? [];
  // A store on a machine of one's own, such as Azurite, has the account before the container.
  const count = own !== undefined ? 0 : store === "azure" && !host.endsWith(".core.windows.net") ? 2 : 1;
  if (path.length < count) return undefined;
  const endpoint = new URL(`/${path.slice(0, count).map(encodeURIComponent).join("/")}`, url);
  const [, region] = /(?:^|\.)s3[.-]([a-z]{2}(?:-[a-z]+)+-\d)\.amazonaws\.com$/.exec(host) ?? [];
  return { endpoint, prefix: path.slice(count).join("/"), store, region: region ?? "us-east-1" };
}
