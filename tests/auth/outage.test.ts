import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { handleLocalAuth } from "@/lib/access/sign-in/local/handler";
import { inPasswordQueue } from "@/lib/access/sign-in/local/queues";
import { closeDatabase, configureDatabase } from "@/lib/db/pool";

beforeAll(async () => {
  // A port that nobody listens on.
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  const url = `postgres://outlay_service:none@127.0.0.1:${port}/outlay`;
  configureDatabase({ url, adminUrl: url });
});
afterAll(closeDatabase);

test.each([
  ["token?grant_type=password", { email: "a@example.com", password: "x" }],
  ["token?grant_type=refresh_token", { refresh_token: "x" }],
  ["recover", { email: "a@example.com" }],
  ["verify", { type: "email", token_hash: "x" }],
])(
  "Answers %s with 503 while the database is away, so that clients keep their session",
  async (path, body) => {
    const answer = await handleLocalAuth(
      new Request(`http://localhost/auth/v1/${path}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      }),
    );
    expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, "1"]);
    expect(await answer.json()).toMatchObject({ code: "unexpected_failure" });
  },
);

test("Answers a queued password check with 503 while the database is away", async () => {
  await expect(inPasswordQueue((client) => client.query("select 1"))).rejects.toMatchObject({
    code: "unavailable",
    status: 503,
  });
});
