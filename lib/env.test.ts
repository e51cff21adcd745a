import { availableParallelism } from "node:os";
import { expect, test } from "vitest";
import { EnvError, parseEnv, processCount } from "./env";

test.each([
  ["true", true],
  ["false", false],
  ["1", false],
  ["TRUE", false],
  ["yes", false],
  ["", false],
  [undefined, false],
])("Allows the environment's key in production for SVC_ALLOW_ENV_API_KEY=%s: %s", (value, allowed) => {
  expect(parseEnv({ SVC_ALLOW_ENV_API_KEY: value }).SVC_ALLOW_ENV_API_KEY).toBe(allowed);
});

test("Reads host names in any case, with spaces between them", () => {
  expect(parseEnv({ ALLOWED_HOSTS: " Outlay.example, inside ,10-0-0-7.internal" }).ALLOWED_HOSTS).toEqual([
    "outlay.example",
    "inside",
    "10-0-0-7.internal",
  ]);
  expect(parseEnv({}).ALLOWED_HOSTS).toEqual([]);
});

test.each(["https://outlay.example", "outlay.example:8443", "outlay.example/", "*", "*.example", ".example"])(
  "Refuses %s as a host name, and says which setting it is",
  (name) => {
    expect(() => parseEnv({ ALLOWED_HOSTS: `inside,${name}` })).toThrow(EnvError);
    expect(() => parseEnv({ ALLOWED_HOSTS: name })).toThrow(/ALLOWED_HOSTS: must be host names/);
  },
);

test("Reads receivers of alerts that may be internal: names, addresses and ranges", () => {
  expect(
    parseEnv({ ALERT_ALLOWED_HOSTS: "Hooks.Internal, 10.0.0.0/8,127.0.0.1,::1,fd00::/8" })
      .ALERT_ALLOWED_HOSTS,
  ).toEqual(["hooks.internal", "10.0.0.0/8", "127.0.0.1", "::1", "fd00::/8"]);
});

test.each(["https://hooks.internal", "hooks.internal:8080", "*", "hooks/24"])(
  "Refuses %s as a receiver that may be internal",
  (host) => {
    expect(() => parseEnv({ ALERT_ALLOWED_HOSTS: host })).toThrow(/ALERT_ALLOWED_HOSTS: must be host names/);
  },
);

test("Refuses a mail server without a sender, and a sender that is no address", () => {
  const SMTP_URL = "smtps://mail.example.com";
  expect(() => parseEnv({ SMTP_URL })).toThrow(/SMTP_FROM: is needed beside SMTP_URL/);
  expect(() => parseEnv({ SMTP_URL, SMTP_FROM: "Outlay" })).toThrow(/SMTP_FROM: must be an address/);
  expect(parseEnv({ SMTP_URL, SMTP_FROM: "Outlay <a@example.com>" }).SMTP_FROM).toBe(
    "Outlay <a@example.com>",
  );
  expect(() => parseEnv({ SMTP_URL: "mail.example.com" })).toThrow(/SMTP_URL: must be a URL/);
});

test("Refuses a replica of the embedded database", () => {
  const POSTGRES_READ_URL = "postgres://replica/outlay";
  expect(() => parseEnv({ POSTGRES_READ_URL })).toThrow(
    /POSTGRES_READ_URL: .* POSTGRES_URL, which is not set/,
  );
  expect(parseEnv({ POSTGRES_READ_URL, POSTGRES_URL: "postgres://primary/outlay" })).toMatchObject({
    POSTGRES_READ_URL,
  });
});

test("Refuses to serve no pages where Next is to serve every route", () => {
  expect(() => parseEnv({ OUTLAY_PAGES: "off", OUTLAY_FAST_LANE: "off" })).toThrow(
    /OUTLAY_PAGES: cannot be off/,
  );
});

test.each([
  [undefined, 1],
  ["", 1],
  ["1", 1],
  ["8", 8],
  ["auto", Math.min(availableParallelism(), 64)],
])("Serves with WEB_CONCURRENCY=%s by %i processes", (value, count) => {
  expect(parseEnv({ WEB_CONCURRENCY: value }).WEB_CONCURRENCY).toBe(count);
});

test.each(["0", "-1", "1.5", "65", "100", "two", "1e1", " "])(
  "Refuses WEB_CONCURRENCY=%s, and says what it may be",
  (value) => {
    expect(() => parseEnv({ WEB_CONCURRENCY: value })).toThrow(
      /WEB_CONCURRENCY: must be a whole number from 1 to 64, or auto/,
    );
  },
);

test("Divides what is meant for the machine among workers only", () => {
  expect(processCount(parseEnv({ WEB_CONCURRENCY: "4" }))).toBe(1);
  expect(processCount(parseEnv({ WEB_CONCURRENCY: "4", OUTLAY_WORKER: "2" }))).toBe(4);
});
