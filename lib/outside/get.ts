import { request } from "node:http";
import { connectOutside, type OutsideNetwork } from "./connect";

export type GetOptions = {
  network: OutsideNetwork;
  /** Limits the time of the whole request. */
  signal: AbortSignal;
  maxBytes: number;
  /** What the body's type must be; any where it is left out. */
  type?: RegExp;
  /** What is asked for. */
  accept: string;
  /** Sent besides, such as a credential. */
  headers?: Record<string, string>;
  /** JSON to send. Without it, the document is asked for with GET. */
  json?: string;
  /** Another method than GET, or than POST with JSON. */
  method?: "POST" | "PATCH" | "PUT" | "DELETE";
  /** Names of hosts, addresses and ranges that may be internal. */
  allowed?: readonly string[];
  /** Called when the connection stands: what fails later is not the network's fault. */
  onConnected?: () => void;
};

/** A whole answer, of any status. */
export type OutsideAnswer = { status: number; retryAfter: string | undefined; body: Buffer };

/**
 * Gets a document. The address was chosen by somebody else, and it is fetched from our network: all addresses of its host must be
 * public or allowed, the connection goes to a checked one, redirects are not followed, size and time are limited.
 * @returns the body of a 200 response
 * @throws InternalAddress; Error that says what is wrong; the signal's reason
 */
export async function getOutside(url: URL, options: GetOptions): Promise<Buffer> {
  const { body } = await exchange(url, options, (status, type) => {
    if (status !== 200) return `It answers ${status}.`;
    if (options.type && !options.type.test(type)) return `It is ${type || "of no type"}.`;
    return undefined;
  });
  return body;
}

/** Like `getOutside`, for whoever reads refusals, too. @throws InternalAddress; Error; the signal's reason */
export function askOutside(url: URL, options: GetOptions): Promise<OutsideAnswer> {
  return exchange(url, options, () => undefined);
}

/** @param judge says what is wrong with an answer by its status and type, before its body is read */
async function exchange(
  url: URL,
  { network, signal, maxBytes, accept, headers: more, json, method, allowed, onConnected }: GetOptions,
  judge: (status: number, type: string) => string | undefined,
): Promise<OutsideAnswer> {
  const isEncrypted = url.protocol === "https:";
  const port = url.port === "" ? (isEncrypted ? 443 : 80) : Number(url.port);
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const connection = await connectOutside({ host, port, isEncrypted }, network, signal, allowed);
  onConnected?.();
  try {
    return await new Promise((resolve, reject) => {
      const headers = {
        Host: url.host,
        Accept: accept,
        "User-Agent": "Outlay",
        Connection: "close",
        ...(json !== undefined && {
          "Content-Type": "application/json",
          "Content-Length": String(Buffer.byteLength(json)),
        }),
        ...more,
      };
      const outgoing = request({
        createConnection: () => connection,
        method: method ?? (json === undefined ? "GET" : "POST"),
        path: url.pathname + url.search,
        headers,
        signal,
      });
      outgoing.once("error", reject);
      outgoing.once("response", (incoming) => {
        const refuse = (why: string) => {
          reject(new Error(why));
          outgoing.destroy();
        };
        incoming.once("error", reject);
        const status = incoming.statusCode ?? 0;
        const given = incoming.headers["content-type"]?.split(";", 1)[0]?.trim().toLowerCase() ?? "";
        const wrong = judge(status, given);
        if (wrong !== undefined) return refuse(wrong);
        const chunks: Buffer[] = [];
        let size = 0;
        incoming.on("data", (chunk: Buffer) => {
          size += chunk.byteLength;
          if (size > maxBytes) refuse(`It has more than ${maxBytes} bytes.`);
          else chunks.push(chunk);
        });
        incoming.once("end", () =>
          incoming.complete
            ? resolve({ status, retryAfter: incoming.headers["retry-after"], body: Buffer.concat(chunks) })
            : reject(new Error("It ended early.")),
        );
      });
      outgoing.end(json);
    });
  } finally {
    connection.destroy();
  }
}
