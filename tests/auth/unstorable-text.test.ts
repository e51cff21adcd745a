import { beforeAll, describe, expect, test } from "vitest";
import { makeClient, must, someEmail, somePassword, withAuthServer } from "@/tests/helpers/auth-server";

const server = withAuthServer();
let token: string;

beforeAll(async () => {
  const account = { email: someEmail(), password: somePassword };
  token = must(await makeClient(server.url).auth.signUp(account)).session?.access_token ?? "";
});

async function refusal(method: string, path: string, body: string, headers = {}) {
  const answer = await fetch(`${server.url}/auth/v1/${path}`, {
    method,
    headers: { "content-type": "application/json", ...headers },
    body,
  });
  return [answer.status, (await answer.json()).error_code];
}

describe("Text that Postgres cannot store", () => {
  const [nul, half] = ["\\u0000", "\\ud800"];
  const nested = `${"[".repeat(3000)}${"]".repeat(3000)}`;

  test.each([
    ["signup", `{"email":"a${half}@b.co","password":"long enough"}`],
    ["signup", `{"email":"a@b.co","password":"long enough${half}"}`],
    ["signup", `{"email":"a@b.co","password":"long enough","data":{"name":"${half}"}}`],
    ["signup", `{"email":"a@b.co","password":"long enough","data":{"${half}":"name"}}`],
    ["signup", `{"email":"a@b.co","password":"long enough","data":{"name":["${nul}"]}}`],
    ["signup", `{"email":"a@b.co","password":"long enough","data":{"deep":${nested}}}`],
    ["otp", `{"email":"a@b.co","data":{"name":"${half}"}}`],
    ["token?grant_type=password", `{"email":"a${nul}@b.co","password":"x"}`],
    ["token?grant_type=password", `{"email":"a@b.co","password":"${nul}"}`],
    ["token?grant_type=refresh_token", `{"refresh_token":"${nul}"}`],
    ["token?grant_type=pkce", `{"auth_code":"${nul}","code_verifier":"${nul}"}`],
    ["verify", `{"type":"email","email":"a@b.co","token":"${nul}"}`],
    ["verify", `{"type":"email","token_hash":"${half}"}`],
    ["recover", `{"email":"a${half}@b.co"}`],
    ["resend", `{"type":"email_change","email":"a${nul}@b.co"}`],
  ])("Is refused by %s as invalid: %s", async (path, body) => {
    expect(await refusal("POST", path, body)).toEqual([400, "validation_failed"]);
  });

  test.each([
    `{"data":{"name":"${half}"}}`,
    `{"data":{"${nul}":1}}`,
    `{"password":"long enough${half}","current_password":"x"}`,
    `{"password":"long enough","current_password":"${nul}"}`,
    `{"password":"long enough","nonce":"${nul}"}`,
    `{"email":"a${nul}@b.co"}`,
  ])("Is refused in a change of the user: %s", async (body) => {
    const authorization = `Bearer ${token}`;
    expect(await refusal("PUT", "user", body, { authorization })).toEqual([400, "validation_failed"]);
  });
});
