import { once } from "node:events";
import { request as ask, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { pipeline } from "node:stream";

/** The paths that Supabase's gateway answers without an API key: what browsers open. */
const open = /^\/(verify|callback|authorize|\.well-known\/)/;

/**
 * What is in front of Supabase Auth in a project: `/auth/v1` with an API key, which becomes the token of its role where the
 * request has no token of a user. Only the secret key may say whose address a request comes from.
 * @param port of Supabase Auth. @param tokens the API keys with the tokens of their roles
 */
export async function startGateway({
  port,
  tokens,
  secretKey,
}: {
  port: number;
  tokens: Map<string, string>;
  secretKey: string;
}): Promise<{ url: string; stop(): Promise<void> }> {
  const server = createServer((request, response) => {
    const path = request.url?.replace(/^\/auth\/v1(?=\/)/, "");
    const headers = { ...request.headers };
    const key = String(headers.apikey ?? "");
    const token = tokens.get(key);
    if (!path || path === request.url || !(token || open.test(path))) {
      const status = !path || path === request.url ? 404 : 401;
      response.writeHead(status, { "content-type": "application/json" });
      response.end(JSON.stringify({ message: status === 404 ? "no Route matched" : "Invalid API key" }));
      request.resume();
      return;
    }
    if (token && (!headers.authorization || headers.authorization === `Bearer ${key}`))
      headers.authorization = `Bearer ${token}`;
    if (key !== secretKey) delete headers["sb-forwarded-for"];
    const onward = ask({ host: "127.0.0.1", port, path, method: request.method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      pipeline(answer, response, () => {});
    });
    onward.on("error", () => response.destroy());
    request.pipe(onward);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
