import { afterEach, expect, test, vi } from "vitest";

afterEach(() => {
  vi.unstubAllEnvs();
  vi.resetModules();
});

const url = "postgres://user:secret@db.example.com:6543/postgres?sslmode=require&supa=base-pooler.x";

test("an address is taken as it is where no authority is set", async () => {
  const { connectionTo } = await import("./connection");
  expect(connectionTo(url)).toEqual({ connectionString: url });
});

test("with an authority the server is verified against it, and the address's own word on TLS is left out", async () => {
  const pem = "-----BEGIN CERTIFICATE-----\\nMIIB\\n-----END CERTIFICATE-----";
  vi.stubEnv("POSTGRES_CA_CERT", pem);
  const { connectionTo } = await import("./connection");
  expect(connectionTo(url)).toEqual({
    connectionString: "postgres://user:secret@db.example.com:6543/postgres?supa=base-pooler.x",
    ssl: { ca: pem.replaceAll("\\n", "\n") },
  });
});
