import { connect, type Socket } from "node:net";

/** An answer to raw bytes: status, headers in lower case, and the body as text. */
export type RawAnswer = { status: number; headers: Record<string, string>; body: string };

/** A socket to a service. */
export function connectTo(baseUrl: string): Promise<Socket> {
  const { hostname, port } = new URL(baseUrl);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname.replace(/^\[|\]$/g, ""));
    socket.once("error", reject).once("connect", () => resolve(socket));
  });
}

/**
 * Reads one whole answer from a socket.
 * @param method of the request: the answer to HEAD has the length of a body, and none
 * @throws Error where the connection ends before that
 */
export function readAnswer(socket: Socket, method = "GET"): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    let said = "";
    const read = (chunk: Buffer) => {
      said += chunk.toString("latin1");
      const answer = parseAnswer(said, method);
      if (!answer) return;
      socket.off("data", read);
      resolve(answer);
    };
    socket.on("data", read);
    socket.once("error", reject);
    socket.once("close", () => reject(new Error(`The connection ended after ${JSON.stringify(said)}.`)));
  });
}

/** Sends a head (lines without line ends) with a body, and reads the answer. */
export async function exchange(baseUrl: string, head: string[], body = ""): Promise<RawAnswer> {
  const socket = await connectTo(baseUrl);
  try {
    const answer = readAnswer(socket, head[0]?.split(" ")[0]);
    socket.write(`${head.join("\r\n")}\r\n\r\n${body}`);
    return await answer;
  } finally {
    socket.destroy();
  }
}

/** The first answer in a text; undefined while it is not complete. */
function parseAnswer(said: string, method: string): RawAnswer | undefined {
  const end = said.indexOf("\r\n\r\n");
  if (end < 0) return undefined;
  const [line = "", ...lines] = said.slice(0, end).split("\r\n");
  const headers = Object.fromEntries(
    lines.map((each) => {
      const colon = each.indexOf(":");
      return [each.slice(0, colon).toLowerCase(), each.slice(colon + 1).trim()];
    }),
  );
  const status = Number(line.split(" ")[1]);
  const rest = said.slice(end + 4);
  if (headers["transfer-encoding"] === "chunked") {
    return rest.endsWith("0\r\n\r\n") ? { status, headers, body: joinChunks(rest) } : undefined;
  }
  const isEmpty = method === "HEAD" || status === 204 || status === 304;
  const length = isEmpty ? 0 : Number(headers["content-length"] ?? 0);
  return rest.length >= length ? { status, headers, body: rest.slice(0, length) } : undefined;
}

function joinChunks(chunked: string): string {
  const end = chunked.indexOf("\r\n");
  const length = Number.parseInt(chunked.slice(0, end), 16);
  if (!length) return "";
  const begin = end + 2;
  return chunked.slice(begin, begin + length) + joinChunks(chunked.slice(begin + length + 2));
}
