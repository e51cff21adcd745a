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
  /** Names of hosts, addresses and ranges that may be internal. */
  allowed?: readonly string[];
  /** Called when the connection stands: what fails later is not the network's fault. */
  onConnected?: () => void;
};

/**
 * Gets a document. The address was chosen by somebody else, and it is fetched from our network: all addresses of its host must be
 * public or allowed, the connection goes to a checked one, redirects are not followed, size and time are limited.
 * @returns the body of a 200 response
 * @throws InternalAddress; Error that says what is wrong; the signal's reason
 */
export async function getOutside(
  url: URL,
  { network, signal, maxBytes, type, accept, allowed, onConnected }: GetOptions,
): Promise<Buffer> {
  const isEncrypted = url.protocol === "https:";
  const port = url.port === "" ? (isEncrypted ? 443 : 80) : Number(url.port);
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const connection = await connectOutside({ host, port, isEncrypted }, network, signal, allowed);
  onConnected?.();
  try {
    return await new Promise((resolve, reject) => {
      const headers = { Host: url.host, Accept: accept, "User-Agent": "Outlay", Connection: "close" };
      const outgoing = request({
        createConnection: () => connection,
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
        if (incoming.statusCode !== 200) return refuse(`It answers ${incoming.statusCode}.`);
        const given = incoming.headers["content-type"]?.split(";", 1)[0]?.trim().toLowerCase() ?? "";
        if (type && !type.test(given)) return refuse(`It is ${given || "of no type"}.`);
        const chunks: Buffer[] = [];
        let size = 0;
        incoming.on("data", (chunk: Buffer) => {
          size += chunk.byteLength;
          if (size > maxBytes) refuse(`It has more than ${maxBytes} bytes.`);
          else chunks.push(chunk);
        });
        incoming.once("end", () =>
          incoming.complete ? resolve(Buffer.concat(chunks)) : reject(new Error("It ended early.")),
        );
      });
      outgoing.end();
    });
  } finally {
    connection.destroy();
  }
}
