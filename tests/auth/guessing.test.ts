import { createHash, randomBytes } from "node:crypto";
import pg from "pg";
import { describe, expect, test, vi } from "vitest";
import { makeClient, must, someEmail, somePassword, withAuthServer } from "@/tests/helpers/auth-server";
import { latestMail, openLink, tokenOf } from "@/tests/helpers/outbox";

const server = withAuthServer();
const auth = () => makeClient(server.url, server.key).auth;

async function newAccount(): Promise<string> {
  const email = someEmail();
  must(await auth().signUp({ email, password: somePassword }));
  return email;
}

describe("Guessing a password", () => {
  const guess = async (email: string, password = "a wrong guess") =>
    (await auth().signInWithPassword({ email, password })).error;

  test.each([
    ["an account", newAccount],
    ["an address without one", async () => someEmail("nobody")],
  ])("Of %s ends after ten attempts, even with the right one", async (_, address) => {
    const email = await address();
    for (let attempt = 0; attempt < 10; attempt += 1)
      expect((await guess(email))?.code).toBe("invalid_credentials");
    expect(await guess(email, somePassword)).toMatchObject({ status: 429, code: "over_request_rate_limit" });
  });

  test("Gains nothing from many attempts at once", async () => {
    const email = await newAccount();
    const codes = (await Promise.all(Array.from({ length: 30 }, () => guess(email)))).map(
      (error) => error?.code,
    );
    expect(codes.filter((code) => code === "invalid_credentials")).toHaveLength(10);
    expect(codes.filter((code) => code === "over_request_rate_limit")).toHaveLength(20);
  });

  test("Resets its count after a right password", async () => {
    const email = await newAccount();
    for (let round = 0; round < 2; round += 1) {
      for (let attempt = 0; attempt < 9; attempt += 1) await guess(email);
      expect(await guess(email, somePassword)).toBeNull();
    }
  });

  test("Takes as long for an address without an account", async () => {
    const time = async (email: string) => {
      const begin = performance.now();
      await guess(email);
      return performance.now() - begin;
    };
    // Alternates, and compares the shortest of each: other work of the machine only adds. Where it has disturbed all of one kind,
    // more are timed. Without a hash for unknown addresses they would be several times faster, however many are.
    const [known, unknown]: [number[], number[]] = [[], []];
    const compare = async () => {
      const accounts = await Promise.all(Array.from({ length: 9 }, newAccount));
      // A hash of the work of production; the other tests' take less.
      const hash = "$2a$10$upDPmcVHE313IbBA66LCGOHs8QQ6NDcgLyO1EQHU7m1a6mVVqsSRK";
      await server.sql.query("update auth.users set encrypted_password = $1", [hash]);
      for (const account of accounts) {
        known.push(await time(account));
        unknown.push(await time(someEmail("nobody")));
      }
      return Math.min(...unknown) / Math.min(...known);
    };
    let ratio = await compare();
    for (let more = 0; more < 4 && (ratio <= 0.6 || ratio >= 1.6); more += 1) ratio = await compare();
    expect(ratio).toBeGreaterThan(0.6);
    expect(ratio).toBeLessThan(1.6);
  });
});

describe("Guessing the six digits of a mail", () => {
  test("Ends with the fifth wrong one, even with the right ones", async () => {
    const email = await newAccount();
    must(await auth().signInWithOtp({ email }));
    const { code } = await latestMail(email);
    const wrong = code === "000000" ? "000001" : "000000";
    for (let attempt = 0; attempt < 5; attempt += 1)
      expect((await auth().verifyOtp({ email, token: wrong, type: "email" })).error?.code).toBe(
        "otp_expired",
      );
    expect((await auth().verifyOtp({ email, token: code ?? "", type: "email" })).error?.code).toBe(
      "otp_expired",
    );
  });

  test("Allows no sixth guess when many are made at once", async () => {
    const email = await newAccount();
    must(await auth().signInWithOtp({ email }));
    const right = (await latestMail(email)).code ?? "";
    const wrong = right === "000000" ? "000001" : "000000";
    const guess = async (token: string) =>
      (await auth().verifyOtp({ email, token, type: "email" })).error?.code ?? "taken";
    for (let attempt = 0; attempt < 4; attempt += 1) expect(await guess(wrong)).toBe("otp_expired");

    // The fifth is stopped where it would be counted: after its digits were compared.
    const superuser = new pg.Client({ connectionString: server.database.superuserUrl });
    await superuser.connect();
    try {
      await superuser.query(`
        create function public.wait_to_count() returns trigger language plpgsql as
          'begin perform pg_advisory_xact_lock(5); return null; end';
        create trigger wait_to_count before update on local_auth.mail_tokens
          for each statement execute function public.wait_to_count();
        select pg_advisory_lock(5)`);
      const fifth = guess(wrong);
      const waiting = async (count: number) => {
        const { rows } = await superuser.query(
          "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
        );
        expect(rows).toHaveLength(count);
      };
      await vi.waitFor(() => waiting(1), 30_000);
      const sixth = guess(right);
      await vi.waitFor(() => waiting(2), 30_000);
      await superuser.query("select pg_advisory_unlock(5)");
      expect(await Promise.all([fifth, sixth])).toEqual(["otp_expired", "otp_expired"]);
    } finally {
      await superuser.query("drop trigger wait_to_count on local_auth.mail_tokens");
      await superuser.end();
    }
  });

  test("Refuses digits of another kind of mail or of another address", async () => {
    const [email, other] = [await newAccount(), await newAccount()];
    must(await auth().signInWithOtp({ email }));
    const token = (await latestMail(email)).code ?? "";
    expect((await auth().verifyOtp({ email, token, type: "email_change" })).error).not.toBeNull();
    expect((await auth().verifyOtp({ email: other, token, type: "email" })).error).not.toBeNull();
    must(await auth().verifyOtp({ email, token, type: "email" }));
  });

  test("Signs nobody in by those of a reauthentication", async () => {
    const [email, client] = [someEmail(), auth()];
    must(await client.signUp({ email, password: somePassword }));
    must(await client.reauthenticate());
    const token = (await latestMail(email)).code ?? "";
    for (const type of ["email", "magiclink", "recovery", "email_change"] as const)
      expect((await auth().verifyOtp({ email, token, type })).error?.code).toBe("otp_expired");
  });
});

describe("A link that many open at once", () => {
  test("Opens one session", async () => {
    const email = await newAccount();
    must(await auth().signInWithOtp({ email }));
    const token_hash = tokenOf((await latestMail(email)).link);
    const open = () => auth().verifyOtp({ token_hash, type: "email" });
    const answers = await Promise.all(Array.from({ length: 8 }, open));
    expect(answers.filter(({ error }) => error === null)).toHaveLength(1);
  });

  test("Gives a code that the challenge does not redeem, and its verifier redeems once", async () => {
    const email = await newAccount();
    const post = async (path: string, body: object) => {
      const headers = { "content-type": "application/json" };
      const init = { method: "POST", headers, body: JSON.stringify(body) };
      return (await fetch(`${server.url}/auth/v1/${path}`, init)).status;
    };
    const code_verifier = randomBytes(32).toString("base64url");
    const code_challenge = createHash("sha256").update(code_verifier).digest("base64url");
    expect(await post("otp", { email, code_challenge, code_challenge_method: "s256" })).toBe(200);
    const auth_code = (await openLink(email)).searchParams.get("code");
    const exchange = (verifier: string) =>
      post("token?grant_type=pkce", { auth_code, code_verifier: verifier });
    expect(await exchange(code_challenge)).toBe(400);
    const statuses = await Promise.all(Array.from({ length: 8 }, () => exchange(code_verifier)));
    expect(statuses.sort()).toEqual([200, ...Array(7).fill(404)]);
  });
});

test("Sends an address five mails in ten minutes, with or without an account", async () => {
  for (const email of [await newAccount(), someEmail("nobody")]) {
    for (let mail = 0; mail < 5; mail += 1)
      expect((await auth().resetPasswordForEmail(email)).error).toBeNull();
    expect((await auth().resetPasswordForEmail(email)).error).toMatchObject({
      status: 429,
      code: "over_email_send_rate_limit",
    });
  }
});
