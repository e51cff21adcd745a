import { describe, expect, test, vi } from "vitest";
import { makeClient, someEmail, somePassword, withAuthServer } from "@/tests/helpers/auth-server";

// As behind a reverse proxy on this machine: the caller is whom the proxy says. Settings are read once, at first use.
vi.hoisted(() => {
  process.env.TRUSTED_PROXIES = "127.0.0.1/32";
});

const server = withAuthServer();

/** A supabase-js client whose requests come from an address. */
const authFrom = (address: string) =>
  makeClient(server.url, "any-key", {}, { "x-forwarded-for": address }).auth;

const times = (count: number) => Array.from({ length: count }, (_, index) => index);

describe("Limits per address", () => {
  test("Allow sixty mails an hour, and do not affect another address", async () => {
    const auth = authFrom("203.0.113.10");
    const answers = await Promise.all(
      times(70).map(() => auth.signInWithOtp({ email: someEmail(), options: { shouldCreateUser: false } })),
    );
    const codes = answers.map(({ error }) => error?.code ?? "sent");
    expect(codes.filter((code) => code === "sent")).toHaveLength(60);
    expect(codes.filter((code) => code === "over_request_rate_limit")).toHaveLength(10);
    const other = await authFrom("203.0.113.11").signInWithOtp({
      email: someEmail(),
      options: { shouldCreateUser: false },
    });
    expect(other.error).toBeNull();
  });

  test("Say when to try again, in the words that supabase-js understands", async () => {
    const response = await fetch(`${server.url}/auth/v1/recover`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-forwarded-for": "203.0.113.10" },
      body: JSON.stringify({ email: someEmail() }),
    });
    expect(response.status).toBe(429);
    const seconds = Number(response.headers.get("retry-after"));
    expect(seconds).toBeGreaterThan(3500);
    expect(seconds).toBeLessThanOrEqual(3600);
    expect(await response.json()).toEqual({
      code: 429,
      error_code: "over_request_rate_limit",
      msg: `For security purposes, you can only request this after ${seconds} seconds.`,
    });
  });

  test("Allow sixty tries of mails' codes", async () => {
    const auth = authFrom("2001:db8::1");
    // Another address of the same network is the same subscriber.
    const neighbour = authFrom("2001:db8::2");
    const answers = await Promise.all(
      times(66).map((index) =>
        (index % 2 ? auth : neighbour).verifyOtp({ email: someEmail(), token: "123456", type: "email" }),
      ),
    );
    const codes = answers.map(({ error }) => error?.code);
    expect(codes.filter((code) => code === "otp_expired")).toHaveLength(60);
    expect(codes.filter((code) => code === "over_request_rate_limit")).toHaveLength(6);
  });
});

test("Limit the sign-ups of one account from anywhere, whether it exists or not", async () => {
  const attempt = async (email: string, index: number) =>
    (await authFrom(`198.51.100.${index}`).signUp({ email, password: somePassword })).error?.code ?? "made";
  const email = someEmail();
  const codes: string[] = [];
  for (const index of times(12)) codes.push(await attempt(email, index + 1));
  expect(codes.slice(0, 10)).toEqual(["made", ...times(9).map(() => "user_already_exists")]);
  expect(codes.slice(10)).toEqual(["over_request_rate_limit", "over_request_rate_limit"]);
});

test("Exempt this machine's own address, which all callers behind an unnamed proxy share", async () => {
  const auth = makeClient(server.url).auth;
  const answers = await Promise.all(
    times(70).map(() => auth.verifyOtp({ email: someEmail(), token: "123456", type: "email" })),
  );
  expect(new Set(answers.map(({ error }) => error?.code))).toEqual(new Set(["otp_expired"]));
});
