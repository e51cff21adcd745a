import { createHash, randomBytes, randomUUID } from "node:crypto";
import { createServerClient } from "@supabase/ssr";
import { sessionCookieName } from "@/lib/access/sign-in/session-client";
import { must, realtime, somePassword } from "./auth-server";
import { createConfirmed, projectOf } from "./hosted-sign-in";

/**
 * A browser with a signed-in user, reduced to plain HTTP: its cookies and its user. `resource` is the address of the agent
 * tools as the service announces it.
 */
export type Browser = {
  id: string;
  email: string;
  token: string;
  cookie: string;
  baseUrl: string;
  resource: string;
};

/** Signs a new user up and keeps their session in cookies. */
export async function openBrowser(baseUrl: string): Promise<Browser> {
  const email = `${randomUUID()}@example.com`;
  const jar = new Map<string, string>();
  const project = projectOf(baseUrl);
  const { auth } = createServerClient(project?.url ?? baseUrl, project?.secretKey ?? "any-key", {
    realtime,
    cookieOptions: { name: sessionCookieName },
    cookies: {
      encode: "tokens-only",
      getAll: () => [...jar].map(([name, value]) => ({ name, value })),
      setAll: (cookies) => {
        for (const { name, value } of cookies) jar.set(name, value);
      },
    },
  });
  const account = { email, password: somePassword };
  if (project) await createConfirmed(project, email, somePassword);
  const { user, session } = must(
    project ? await auth.signInWithPassword(account) : await auth.signUp(account),
  );
  const cookie = [...jar].map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join("; ");
  const metadata = await fetch(`${baseUrl}/.well-known/oauth-protected-resource`);
  const { resource } = await metadata.json();
  return { id: user?.id ?? "", email, token: session?.access_token ?? "", cookie, baseUrl, resource };
}

/** A PKCE verifier with its challenge. */
export function makePkce() {
  const verifier = randomBytes(32).toString("base64url");
  return { verifier, challenge: createHash("sha256").update(verifier).digest("base64url") };
}

export const redirectUri = "http://127.0.0.1:33418/callback";

/** Registers a client. @returns the answer, also if it is a refusal */
export async function register(
  baseUrl: string,
  metadata: Record<string, unknown> = {},
  headers: Record<string, string> = {},
) {
  const response = await fetch(`${baseUrl}/oauth/register`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify({ client_name: "Test assistant", redirect_uris: [redirectUri], ...metadata }),
  });
  return { status: response.status, headers: response.headers, body: await response.json() };
}

export async function registerClient(
  baseUrl: string,
  metadata: Record<string, unknown> = {},
): Promise<string> {
  const { status, body } = await register(baseUrl, metadata);
  if (status !== 201) throw new Error(`Registering failed: ${JSON.stringify(body)}`);
  return body.client_id;
}

/** The link that a client opens in a browser. `changes` replace its parameters; undefined removes one. */
export function authorizeUrl(
  baseUrl: string,
  clientId: string,
  challenge: string,
  changes: Record<string, string | undefined> = {},
): string {
  const parameters = {
    response_type: "code",
    client_id: clientId,
    redirect_uri: redirectUri,
    code_challenge: challenge,
    code_challenge_method: "S256",
    state: "a state",
    resource: `${baseUrl}/api/mcp`,
    scope: "log_usage read_summaries",
    ...changes,
  };
  const set = Object.entries(parameters).filter((each): each is [string, string] => each[1] !== undefined);
  return `${baseUrl}/oauth/authorize?${new URLSearchParams(set)}`;
}

/** Opens a link in a browser. @returns the redirect, or the page with the nonce of its form */
export async function openPage(browser: Browser | null, url: string) {
  const response = await fetch(url, {
    redirect: "manual",
    headers: browser ? { cookie: browser.cookie } : {},
  });
  const html = await response.text();
  const nonce = /name="nonce" value="([^"]+)"/.exec(html)?.[1];
  return {
    status: response.status,
    headers: response.headers,
    location: response.headers.get("location"),
    html,
    nonce,
  };
}

/** Sends the consent page's form. @returns the status and the redirect */
export async function sendForm(
  browser: Browser,
  fields: [string, string][],
  headers: Record<string, string> = { "sec-fetch-site": "same-origin" },
) {
  const response = await fetch(`${browser.baseUrl}/oauth/consent`, {
    method: "POST",
    redirect: "manual",
    headers: { "content-type": "application/x-www-form-urlencoded", cookie: browser.cookie, ...headers },
    body: new URLSearchParams(fields),
  });
  return {
    status: response.status,
    location: response.headers.get("location") ?? "",
    body: await response.text(),
  };
}

/** A user's choice on the consent page; by default their own workspace. */
export type Choice = { workspace: string; permissions?: string[]; project?: string; monthlyLimit?: string };

/** The fields of a form that allows the connection. */
export function allowing(nonce: string | undefined, choice: Choice): [string, string][] {
  const { permissions = ["log_usage", "read_summaries"] } = choice;
  return [
    ["nonce", nonce ?? ""],
    ["decision", "allow"],
    ["workspace", choice.workspace],
    ...permissions.map((permission): [string, string] => ["permission", permission]),
    ["project", choice.project ?? ""],
    ["monthly_limit", choice.monthlyLimit ?? ""],
  ];
}

/** Opens the link and allows the connection. @returns the code */
export async function consent(browser: Browser, url: string, choice: Choice): Promise<string> {
  const page = await openPage(browser, url);
  if (!page.nonce)
    throw new Error(`No consent page: ${page.status} ${page.location} ${page.html.slice(0, 500)}`);
  const { location } = await sendForm(browser, allowing(page.nonce, choice));
  const code = URL.canParse(location) ? new URL(location).searchParams.get("code") : null;
  if (!code) throw new Error(`No code: ${location}`);
  return code;
}

/** Posts a form to the token endpoint, or to another one. */
export async function postForm(baseUrl: string, path: string, fields: Record<string, string | undefined>) {
  const set = Object.entries(fields).filter((each): each is [string, string] => each[1] !== undefined);
  const response = await fetch(baseUrl + path, { method: "POST", body: new URLSearchParams(set) });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === "" ? {} : JSON.parse(text) };
}

/** Connects a client: registers it, asks for consent and exchanges the code. @param scope by default the usual one */
export async function connect(browser: Browser, choice: Choice, clientId?: string, scope?: string) {
  const client = clientId ?? (await registerClient(browser.baseUrl));
  const { verifier, challenge } = makePkce();
  const { baseUrl, resource } = browser;
  const code = await consent(
    browser,
    authorizeUrl(baseUrl, client, challenge, { resource, ...(scope && { scope }) }),
    choice,
  );
  const exchange = {
    grant_type: "authorization_code",
    code,
    client_id: client,
    redirect_uri: redirectUri,
    code_verifier: verifier,
    resource,
  };
  const { status, body } = await postForm(baseUrl, "/oauth/token", exchange);
  if (status !== 200) throw new Error(`No tokens: ${JSON.stringify(body)}`);
  return {
    clientId: client,
    exchange,
    access: String(body.access_token),
    refresh: String(body.refresh_token),
    scope: String(body.scope),
  };
}

/** Exchanges a refresh token. */
export function refresh(baseUrl: string, clientId: string, token: string) {
  return postForm(baseUrl, "/oauth/token", {
    grant_type: "refresh_token",
    refresh_token: token,
    client_id: clientId,
  });
}

/** Calls one of the agent tools with a token, without an SDK. @returns status, challenge and the tool's result */
export async function callTool(
  baseUrl: string,
  token: string | null,
  name = "get_monthly_summary",
  args: Record<string, unknown> = {},
) {
  const response = await fetch(`${baseUrl}/api/mcp`, {
    method: "POST",
    headers: {
      ...(token && { authorization: `Bearer ${token}` }),
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
    },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: randomUUID(),
      method: "tools/call",
      params: { name, arguments: args },
    }),
  });
  const text = await response.text();
  const data = /^data: (.+)$/m.exec(text)?.[1] ?? text;
  return {
    status: response.status,
    challenge: response.headers.get("www-authenticate") ?? "",
    body: data.startsWith("{") ? JSON.parse(data) : {},
  };
}
