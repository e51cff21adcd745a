import { once } from "node:events";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const fixture = (name: string) => fileURLToPath(new URL(`./fixtures/${name}`, import.meta.url));

/** A public address, as far as a service's checks go. Connections to it lead to the test's server. */
const publicAddress = "93.184.215.14";

/**
 * An outside network for a service, with an https server whose certificate an authority of the tests signed, for
 * `client.example`, `other.example` and `claude.ai`. Begins with no network at all.
 */
export type OutsideNetwork = {
  /** What a service is started with to be in this network. */
  settings: Record<string, string>;
  /** The names that resolve from now on. */
  connect(...names: string[]): void;
  /** What the server answers: JSON by `https://` address; 404 for any other. */
  documents: Map<string, unknown>;
  /** The addresses that were asked for. */
  asked: string[];
  close(): Promise<void>;
};

export async function openOutsideNetwork(): Promise<OutsideNetwork> {
  const documents = new Map<string, unknown>();
  const asked: string[] = [];
  const certificate = {
    key: readFileSync(fixture("server-key.pem")),
    cert: readFileSync(fixture("server.pem")),
  };
  const server = createServer(certificate, (request, response) => {
    const address = `https://${request.headers.host}${request.url}`;
    asked.push(address);
    const document = documents.get(address);
    response
      .writeHead(document === undefined ? 404 : 200, { "content-type": "application/json" })
      .end(JSON.stringify(document ?? {}));
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  const file = join(tmpdir(), `outlay-network-${process.pid}-${port}.json`);
  const connect = (...names: string[]) =>
    writeFileSync(
      file,
      JSON.stringify({ port, names: Object.fromEntries(names.map((name) => [name, publicAddress])) }),
    );
  connect();
  return {
    settings: {
      NODE_OPTIONS: `--import ${pathToFileURL(fixture("outside-network.mjs"))}`,
      NODE_EXTRA_CA_CERTS: fixture("authority.pem"),
      TEST_NETWORK_FILE: file,
    },
    connect,
    documents,
    asked,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
      rmSync(file, { force: true });
    },
  };
}
