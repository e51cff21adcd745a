import { afterEach, expect, test, vi } from "vitest";

afterEach(() => {
  vi.unstubAllEnvs();
  vi.resetModules();
});

const url = "postgres://user:secret@db.example.com:6543/postgres?sslmode=require&supa=base-pooler.x";

test("Uses the address unchanged where no certificate authority is set", async () => {
  const { connectionTo } = await import("./connection");
  expect(connectionTo(url)).toEqual({ connectionString: url });
});

test("Verifies the server against the given authority, whatever the address says about TLS", async () => {
  const pem = "-----BEGIN CERTIFICATE-----\\nMIIB\\n-----END CERTIFICATE-----";
  vi.stubEnv("POSTGRES_CA_CERT", pem);
  const { connectionTo } = await import("./connection");
  expect(connectionTo(url)).toEqual({
    connectionString: "postgres://user:secret@db.example.com:6543/postgres?supa=base-pooler.x",
    ssl: { ca: pem.replaceAll("\\n", "\n") },
  });
});
