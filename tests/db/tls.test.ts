import { chmodSync, chownSync, cpSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { Client } from "pg";
import { afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { accountForPostgres } from "@/lib/db/embedded/account";
import { startEmbeddedPostgres } from "@/lib/db/embedded/server";
import { makeDataDir } from "@/tests/helpers/cluster";
import { projectRoot } from "@/tests/helpers/project-root";

// An authority of its own, which no machine knows, and a certificate of it for `localhost`. Both are valid until 2126.
const certificates = join(projectRoot, "tests/fixtures/tls");

let url: string;

beforeAll(async () => {
  const dataDir = makeDataDir();
  const folder = makeDataDir();
  cpSync(certificates, folder, { recursive: true });
  const account = accountForPostgres(undefined);
  const key = join(folder, "server.key");
  if (account) chownSync(key, account.uid, account.gid);
  chmodSync(key, 0o600);
  const server = await startEmbeddedPostgres({
    dataDir,
    log: () => {},
    overrides: { ssl: "on", ssl_cert_file: join(folder, "server.pem"), ssl_key_file: key, fsync: "off" },
  });
  url = server.adminUrl.replace("127.0.0.1", "localhost");
  return async () => {
    await server.stop();
    for (const each of [dataDir, folder]) rmSync(each, { recursive: true, force: true });
  };
});

afterEach(() => {
  vi.unstubAllEnvs();
  vi.resetModules();
});

describe("A database whose certificate an authority of its own signed", () => {
  const withAuthority = () =>
    vi.stubEnv("POSTGRES_CA_CERT", readFileSync(join(certificates, "authority.pem"), "utf8"));
  const migrate = async (address: string) =>
    (await import("@/server/migrate-database")).migrateDatabase(address, projectRoot);

  test.each(["require", "verify-full"])(
    "Is refused with sslmode=%s, and the error names the setting",
    async (mode) => {
      await expect(migrate(`${url}?sslmode=${mode}`)).rejects.toThrow(/localhost.*POSTGRES_CA_CERT/s);
    },
  );

  test.each(["", "?sslmode=require", "?sslmode=require&supa=base-pooler.x"])(
    "Is used over TLS with POSTGRES_CA_CERT (%s)",
    async (query) => {
      withAuthority();
      const { connectionTo } = await import("@/lib/db/connection");
      const client = new Client(connectionTo(url + query));
      await client.connect();
      const { rows } = await client.query("select ssl from pg_stat_ssl where pid = pg_backend_pid()");
      await client.end();
      expect(rows).toEqual([{ ssl: true }]);
    },
  );

  test("Is refused at an address for which the certificate is not", async () => {
    withAuthority();
    await expect(migrate(`${url.replace("localhost", "127.0.0.1")}?sslmode=require`)).rejects.toThrow(
      /not valid for this address/,
    );
  });
});
