import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A server on loopback that answers files whose content a test sets. */
export type FileServer = {
  url(path: string): string;
  /** What a path answers: a body, or a function that answers. */
  set(path: string, answer: string | ((response: ServerResponse) => void)): void;
  /** How often each path was asked for. */
  readonly asked: Map<string, number>;
  close(): Promise<void>;
};

export async function startFileServer(): Promise<FileServer> {
  const answers = new Map<string, string | ((response: ServerResponse) => void)>();
  const asked = new Map<string, number>();
  const server = createServer((request, response) => {
    const path = request.url ?? "";
    asked.set(path, (asked.get(path) ?? 0) + 1);
    const answer = answers.get(path);
    if (typeof answer === "function") return answer(response);
    response.statusCode = answer === undefined ? 404 : 200;
    response.end(answer);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: (path) => `http://127.0.0.1:${port}${path}`,
    set: (path, answer) => void answers.set(path, answer),
    asked,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
