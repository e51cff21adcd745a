import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { SignJWT } from "jose";
import { afterAll, expect, test } from "vitest";
import { createLocalUser } from "@/lib/access/sign-in/local/account-queries";
import { someEmail, somePassword } from "@/tests/helpers/auth-server";
import { withHarness } from "@/tests/helpers/harness";
import { withPages } from "@/tests/helpers/service";

type Change = { password: string; nonce: string | undefined; current_password: string | undefined };

/** The changes that the project was asked for, how many codes it mailed, and what it says to a change. */
const changes: Change[] = [];
let codes = 0;
let refusal: (change: Change) => string | undefined = () => undefined;
const email = someEmail();
const user = { id: "", email, aud: "authenticated", role: "authenticated", factors: [], identities: [] };

// As Supabase Auth answers them.
const project = createServer(async (request, response) => {
  const answer = (status: number, body: object) =>
    response
      .writeHead(status, { "content-type": "application/json", "x-supabase-api-version": "2024-01-01" })
      .end(JSON.stringify(body));
  const path = `${request.method} ${request.url?.replace(/\?.*/, "")}`;
  if (path === "GET /auth/v1/reauthenticate") codes += 1;
  if (path === "GET /auth/v1/reauthenticate") return answer(200, {});
  if (path === "GET /auth/v1/user") return answer(200, user);
  if (path !== "PUT /auth/v1/user") return answer(404, { code: "not_found", message: "Not found" });
  const { nonce, password, current_password } = (await json(request)) as Change;
  const change = { password, nonce, current_password };
  changes.push(change);
  const code = refusal(change);
  return code ? answer(400, { code, message: "Not so." }) : answer(200, user);
});
await new Promise<void>((resolve) => project.listen(0, "127.0.0.1", resolve));
const url = `http://127.0.0.1:${(project.address() as AddressInfo).port}`;
afterAll(() => void project.close());

const secret = "a-shared-secret-of-an-older-project";
const harness = withHarness({
  settings: {
    ...withPages,
    SUPABASE_URL: url,
    SUPABASE_PUBLISHABLE_KEY: "sb_publishable_x",
    SUPABASE_JWT_SECRET: secret,
  },
});

/** The fields of a form of a page by name, with their attributes; hidden ones with their values. */
function fieldsOf(html: string): Map<string, string> {
  const form = html.split("<form").find((part) => part.includes("Change the password")) ?? "";
  return new Map(
    [...form.matchAll(/<input([^>]*) name="([^"]+)"([^>]*)/g)].map(([, before, name = "", after]) => [
      name,
      `${before}${after}`,
    ]),
  );
}

/** Opens the account's page, and returns a function that sends its form with what is typed, as a browser without scripts. */
async function openForm() {
  const base = harness.services[0]?.baseUrl ?? "";
  user.id ||= await createLocalUser(harness.fixtures.sql, {
    email,
    password: somePassword,
    displayName: "Ada",
  });
  const expiresAt = Math.floor(Date.now() / 1000) + 3600;
  const token = await new SignJWT({ role: "authenticated", session_id: crypto.randomUUID(), email })
    .setProtectedHeader({ alg: "HS256" })
    .setSubject(user.id)
    .setAudience("authenticated")
    .setIssuer(`${url}/auth/v1`)
    .setExpirationTime(expiresAt)
    .sign(new TextEncoder().encode(secret));
  const session = { access_token: token, refresh_token: "r", expires_at: expiresAt, expires_in: 3600 };
  const text = JSON.stringify({ ...session, token_type: "bearer" });
  const headers = {
    cookie: `outlay-session=base64-${Buffer.from(text).toString("base64url")}`,
    origin: base,
  };
  const page = `${base}/${email.slice(0, email.indexOf("@"))}/settings/account`;
  let html = await (await fetch(page, { headers })).text();
  return async (typed: Record<string, string> = {}) => {
    if (Object.keys(typed).length === 0) return fieldsOf(html);
    const body = new FormData();
    for (const [name, attributes] of fieldsOf(html)) {
      const value = /value="([^"]*)"/.exec(attributes)?.[1] ?? "";
      body.append(name, typed[name] ?? value.replaceAll("&quot;", '"'));
    }
    html = await (await fetch(page, { method: "POST", headers, body })).text();
    return fieldsOf(html);
  };
}
const asks = (fields: Map<string, string>) =>
  ["code", "current", "password"].filter((name) => fields.has(name));

test("Changes a password by what the project wants, and asks for nothing else", async () => {
  const send = await openForm();
  expect(asks(await send())).toEqual(["password"]);
  expect(asks(await send({ password: "a new password" }))).toEqual([]);
  expect([changes.splice(0), codes]).toEqual([[{ password: "a new password" }], 0]);
});

test("Asks for a mailed code where the project wants one, and for the password only if it says so", async () => {
  refusal = ({ nonce, current_password: current }) => {
    if (!nonce) return "reauthentication_needed";
    return current ? undefined : "current_password_required";
  };
  const send = await openForm();
  const asked = await send({ password: "a new password" });
  expect([asks(asked), codes]).toEqual([["code", "current", "password"], 1]);
  expect(asked.get("code")).toContain("required");
  expect(asked.get("current")).not.toContain("required");
  // The project has used the code up when it asks for the password.
  const again = await send({ password: "a new password", code: "123 456" });
  expect([asks(again), codes]).toEqual([["code", "current", "password"], 2]);
  expect(again.get("current")).toContain("required");
  const typed = { password: "a new password", code: "654321", current: somePassword };
  expect(asks(await send(typed))).toEqual([]);
  expect(changes.at(-1)).toEqual({
    password: "a new password",
    nonce: "654321",
    current_password: somePassword,
  });
});
