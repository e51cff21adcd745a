import { X509Certificate } from "node:crypto";
import { afterEach, describe, expect, test, vi } from "vitest";

afterEach(() => {
  vi.unstubAllEnvs();
  vi.resetModules();
});

const url = "postgres://user:secret@db.example.com:6543/postgres?sslmode=require&supa=base-pooler.x";

test("Verifies the server's certificate and name with sslmode=require, and leaves other addresses as they are", async () => {
  const { connectionTo } = await import("./connection");
  const verified =
    "postgres://user:secret@db.example.com:6543/postgres?sslmode=verify-full&supa=base-pooler.x";
  expect(connectionTo(url)).toEqual({ connectionString: verified });
  for (const query of ["", "?sslmode=no-verify", "?sslmode=require&uselibpqcompat=true"]) {
    const address = `postgres://user:secret@db.example.com:6543/postgres${query}`;
    expect(connectionTo(address)).toEqual({ connectionString: address });
  }
});

test("Verifies the server against the given authority, whatever the address says about TLS", async () => {
  const pem = "-----BEGIN CERTIFICATE-----\\nMIIB\\n-----END CERTIFICATE-----";
  vi.stubEnv("POSTGRES_CA_CERT", pem);
  const { connectionTo } = await import("./connection");
  expect(connectionTo(url)).toEqual({
    connectionString: "postgres://user:secret@db.example.com:6543/postgres?supa=base-pooler.x",
    ssl: { ca: [pem.replaceAll("\\n", "\n")] },
  });
});

describe("A Supabase project's database", () => {
  const hosts = ["db.abcdefghijklmnop.supabase.co:5432", "aws-0-eu-central-1.pooler.supabase.com:6543"];
  const connect = async (address: string) => (await import("./connection")).connectionTo(address);

  test.each(hosts)("Is verified with Supabase's authorities, also without sslmode (%s)", async (host) => {
    for (const query of ["?sslmode=require&supa=base-pooler.x", "?sslmode=verify-full", ""]) {
      const { connectionString, ssl } = await connect(`postgres://user:secret@${host}/postgres${query}`);
      expect(connectionString).not.toContain("sslmode");
      const [supabase = ""] = ssl?.ca ?? [];
      const pems = supabase.match(/-----BEGIN.+?END CERTIFICATE-----/gs) ?? [];
      expect(pems.map((each) => new X509Certificate(each).fingerprint256.replaceAll(":", ""))).toEqual([
        "807025AD50D4ED219D2C9C7D299C004F824EB00CF7F65AFEF607D07B72E6CAFA",
        "5F9B77951A7AA1303F9B58EEA9BFA89E358CFDC15F9786FF10D4930A722C9AE2",
      ]);
    }
  });

  test.each(["sslmode=disable", "sslmode=no-verify", "sslmode=verify-full&sslrootcert=/etc/ca.pem"])(
    "Is left to an address that decides itself (%s)",
    async (query) => {
      const address = `postgres://user:secret@${hosts[0]}/postgres?${query}`;
      expect(await connect(address)).toEqual({ connectionString: address });
    },
  );

  test.each(["supabase.co.evil.example", "evilsupabase.co", "db.example.com"])(
    "Is not what another host is (%s)",
    async (host) => {
      const address = `postgres://user:secret@${host}/postgres?sslmode=verify-full`;
      expect(await connect(address)).toEqual({ connectionString: address });
    },
  );
});
