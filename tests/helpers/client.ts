import { randomUUID } from "node:crypto";
import { createConfirmed, projectOf } from "./hosted-sign-in";

/** An answer: status, headers and the parsed body. */
export type Answer<Body = Record<string, unknown>> = { status: number; headers: Headers; body: Body };

/** @throws Error that names the request and why it has no answer. The list of failed tests shows messages and no causes. */
async function send(address: string, request: RequestInit): Promise<Response> {
  try {
    return await fetch(address, request);
  } catch (error) {
    const { code = "", message } = (error as { cause?: { code?: string; message?: string } }).cause ?? {};
    throw new Error(`${request.method} ${address} was not answered: ${code} ${message}`, { cause: error });
  }
}

/** A client of a service with an API key; without one for `null`. */
export function apiClient(baseUrl: string, secret: string | null) {
  const call = async (
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answer> => {
    const response = await send(baseUrl + path, {
      method,
      headers: {
        ...(secret !== null && { authorization: `Bearer ${secret}` }),
        ...(body !== undefined && { "content-type": "application/json" }),
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson = /json/.test(response.headers.get("content-type") ?? "");
    return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : {} };
  };
  return {
    get: (path: string, headers?: Record<string, string>) => call("GET", path, undefined, headers),
    post: (body: unknown, headers?: Record<string, string>, query = "") =>
      call("POST", `/api/v1/messages${query}`, body, headers),
    call,
  };
}

/** A cost message of $0.01 by default, in the project `checkout`. */
export function costMessage(message: Record<string, unknown> = {}, outer: Record<string, unknown> = {}) {
  return {
    project: "checkout",
    source: "api",
    message: {
      type: "usage",
      provider: "openai",
      model: "gpt-4o",
      unit_type: "input_tokens",
      quantity: 1,
      estimated_cost: 0.01,
      ...message,
    },
    ...outer,
  };
}

/** Signs in with a password where the service's users sign in. @returns the answer, with `access_token` */
export function signIn(baseUrl: string, account: { email: string; password: string }): Promise<Answer> {
  const project = projectOf(baseUrl);
  const headers = project && { apikey: project.secretKey };
  const path = "/auth/v1/token?grant_type=password";
  return apiClient(project?.url ?? baseUrl, null).call("POST", path, account, headers);
}

/** Signs a new user up where the service's users sign in; calls use their access token. */
export async function signUpUser(baseUrl: string) {
  const email = `${randomUUID()}@example.com`;
  const account = { email, password: "correct horse battery" };
  const project = projectOf(baseUrl);
  if (project) await createConfirmed(project, email, account.password);
  const { status, body } = await (project
    ? signIn(baseUrl, account)
    : apiClient(baseUrl, null).call("POST", "/auth/v1/signup", account));
  if (status !== 200) throw new Error(`Nobody was signed up (${status}): ${JSON.stringify(body)}`);
  const { id } = body.user as { id: string };
  const token = String(body.access_token);
  return { id, email, token, ...apiClient(baseUrl, token) };
}
