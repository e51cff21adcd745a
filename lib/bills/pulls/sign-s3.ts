import { createHash, createHmac } from "node:crypto";

const emptyHash = createHash("sha256").digest("hex");
const hmac = (key: string | Buffer, text: string) => createHmac("sha256", key).update(text).digest();
const escaped = (text: string) =>
  encodeURIComponent(text).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);

/**
 * The headers that authorize a GET of S3 or of what speaks its protocol: Signature Version 4
 * (https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html).
 * @param url its parameters and path become part of the signature @param at the present time
 */
export function signS3(
  url: URL,
  { keyId, secret, region }: { keyId: string; secret: string; region: string },
  at: Date,
): Record<string, string> {
  const time = at.toISOString().replace(/[-:]|\.\d{3}/g, "");
  const day = time.slice(0, 8);
  const headers = { host: url.host, "x-amz-content-sha256": emptyHash, "x-amz-date": time };
  const names = Object.keys(headers).join(";");
  const query = [...url.searchParams].map(([name, value]) => `${escaped(name)}=${escaped(value)}`).sort();
  const path = url.pathname
    .split("/")
    .map((part) => escaped(decodeURIComponent(part)))
    .join("/");
  const lines = Object.entries(headers).map(([name, value]) => `${name}:${value}\n`);
  const request = ["GET", path, query.join("&"), lines.join(""), names, emptyHash].join("\n");
  const scope = `${day}/${region}/s3/aws4_request`;
  const hash = createHash("sha256").update(request).digest("hex");
  const key = [day, region, "s3", "aws4_request"].reduce<string | Buffer>(hmac, `AWS4${secret}`);
  const signature = hmac(key, ["AWS4-HMAC-SHA256", time, scope, hash].join("\n")).toString("hex");
  return {
    "x-amz-content-sha256": emptyHash,
    "x-amz-date": time,
    Authorization: `AWS4-HMAC-SHA256 Credential=${keyId}/${scope}, SignedHeaders=${names}, Signature=${signature}`,
  };
}
