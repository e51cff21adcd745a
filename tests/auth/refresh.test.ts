import { expect, test } from "vitest";
import { makeClient, must, someEmail, somePassword, withAuthServer } from "@/tests/helpers/auth-server";

const server = withAuthServer();

async function newSession() {
  const answer = await makeClient(server.url, server.key).auth.signUp({
    email: someEmail(),
    password: somePassword,
  });
  const { session } = must(answer);
  if (!session) throw new Error("Sign-up gave no session.");
  return session;
}

async function refresh(
  refreshToken: string,
): Promise<{ token: string | undefined; code: string | undefined }> {
  const answer = await fetch(`${server.url}/auth/v1/token?grant_type=refresh_token`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ refresh_token: refreshToken }),
  });
  const body = await answer.json();
  return { token: body.refresh_token, code: body.code };
}

const tokenAfter = async (token: string) => {
  const next = (await refresh(token)).token;
  if (!next) throw new Error("The token was refused.");
  return next;
};

/** Ages the tokens used so far. */
const later = () =>
  server.sql.query("update auth.refresh_tokens set updated_at = updated_at - interval '1 minute'");

test("Gives one new token to ten refreshes of one token at once", async () => {
  const { refresh_token } = await newSession();
  const answers = await Promise.all(Array.from({ length: 10 }, () => refresh(refresh_token)));
  expect(new Set(answers.map(({ token }) => token)).size).toBe(1);
  const { rows } = await server.sql.query(
    "select count(*)::int as open from auth.refresh_tokens where not revoked and session_id = (select session_id from auth.refresh_tokens where token = encode(sha256($1), 'hex'))",
    [refresh_token],
  );
  expect(rows).toEqual([{ open: 1 }]);
});

test("Gives the same token again to a client that lost the answer, however late", async () => {
  const { refresh_token } = await newSession();
  const lost = await tokenAfter(refresh_token);
  await later();
  expect(await tokenAfter(refresh_token)).toBe(lost);
  expect((await refresh(lost)).code).toBeUndefined();
});

test("Lets a tab that is two refreshes behind catch up within seconds", async () => {
  const { refresh_token } = await newSession();
  const newest = await tokenAfter(await tokenAfter(refresh_token));
  expect(await tokenAfter(refresh_token)).toBe(newest);
});

test("Rejects a reused refresh token and ends its session", async () => {
  const { refresh_token } = await newSession();
  const newest = await tokenAfter(await tokenAfter(refresh_token));
  await later();
  expect((await refresh(refresh_token)).code).toBe("refresh_token_already_used");
  expect((await refresh(newest)).code).toBe("refresh_token_not_found");
});

test("Refuses an unknown token", async () => {
  expect((await refresh("nobodys")).code).toBe("refresh_token_not_found");
});

test("Stores no token that can be read back", async () => {
  const session = await newSession();
  const next = await tokenAfter(session.refresh_token);
  const { rows } = await server.sql.query(
    "select (select jsonb_agg(to_jsonb(r)) from auth.refresh_tokens as r)::text || (select jsonb_agg(to_jsonb(s)) from auth.sessions as s)::text as kept",
  );
  expect(rows[0].kept).not.toContain(session.refresh_token);
  expect(rows[0].kept).not.toContain(next);
});
