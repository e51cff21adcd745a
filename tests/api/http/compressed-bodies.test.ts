import { Readable } from "node:stream";
import { brotliCompressSync, createGzip, deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import { beforeAll, describe, expect, test } from "vitest";
import { costMessage, signUpUser } from "@/tests/helpers/client";
import { withHarness } from "@/tests/helpers/harness";
import type { Service } from "@/tests/helpers/service";
import { toolCall } from "@/tests/helpers/tool-call";

const harness = withHarness({ services: 0 });

/** A gigabyte of spaces, compressed: about a megabyte. */
async function bombOf(bytes: number): Promise<Uint8Array<ArrayBuffer>> {
  const chunk = Buffer.alloc(1024 * 1024, " ");
  const source = Readable.from(
    (function* () {
      for (let sent = 0; sent < bytes; sent += chunk.length) yield chunk;
    })(),
  );
  const pieces: Buffer[] = [];
  for await (const piece of source.pipe(createGzip({ level: 9 }))) pieces.push(piece as Buffer);
  return new Uint8Array(Buffer.concat(pieces)).slice(0, 1024 * 1024);
}

describe.each(["on", "off"])("with the lane %s", (lane) => {
  let service: Service;
  let secret: string;
  beforeAll(async () => {
    service = await harness.start({ OUTLAY_FAST_LANE: lane });
    ({ secret } = await harness.fixtures.key(await harness.fixtures.workspace()));
  });

  const send = async (
    path: string,
    body: Uint8Array<ArrayBuffer>,
    encoding: string,
    headers: Record<string, string> = {},
    method = "POST",
  ) => {
    const response = await fetch(service.baseUrl + path, {
      method,
      headers: {
        authorization: `Bearer ${secret}`,
        "content-type": "application/json",
        "content-encoding": encoding,
        ...headers,
      },
      body,
    });
    return {
      status: response.status,
      headers: response.headers,
      body: JSON.parse((await response.text()) || "{}"),
    };
  };

  const encodings = [
    ["gzip", gzipSync],
    ["x-gzip", gzipSync],
    ["GZIP", gzipSync],
    ["deflate", deflateSync],
    ["deflate", deflateRawSync],
    ["identity", (text: string) => Buffer.from(text)],
  ] as const;

  test("Accepts compressed bodies on every kind of route", async () => {
    const user = await signUpUser(service.baseUrl);
    const me = await user.get("/api/v1/me");
    const [{ slug } = { slug: "" }] = me.body.workspaces as { slug: string }[];
    const bearer = { authorization: `Bearer ${user.token}` };
    const tool = toolCall("2026", "get_budget_status", {});
    for (const [encoding, compress] of encodings) {
      const post = (path: string, body: unknown, headers = {}) =>
        send(path, compress(typeof body === "string" ? body : JSON.stringify(body)), encoding, headers);
      const statuses = [
        await post("/api/v1/messages", costMessage()),
        await post("/api/v1/messages/batch", { messages: [costMessage()] }),
        await post(`/api/v1/workspaces/${slug}/messages/batch`, { messages: [costMessage()] }, bearer),
        await post("/api/mcp", tool.body, tool.headers),
        await post("/auth/v1/token?grant_type=password", {
          email: user.email,
          password: "correct horse battery",
        }),
        await post("/oauth/register", { redirect_uris: ["http://localhost:33418/callback"] }),
        await post("/oauth/revoke", "token=unknown&client_id=unknown", {
          "content-type": "application/x-www-form-urlencoded",
        }),
      ].map(({ status }) => status);
      expect([encoding, statuses]).toEqual([encoding, [201, 207, 207, 200, 200, 201, expect.any(Number)]]);
      expect(statuses[6]).toBeLessThan(402);
    }
  });

  test("Refuses a body that inflates beyond the limit, without inflating it", async () => {
    const bomb = await bombOf(1024 ** 3);
    for (const path of ["/api/v1/messages/batch", "/api/mcp", "/api/v1/messages"]) {
      const startedAt = performance.now();
      const { status, body } = await send(path, bomb, "gzip");
      expect([path, status, body.error]).toEqual([path, 413, "payload_too_large"]);
      expect(performance.now() - startedAt).toBeLessThan(3_000);
    }
    const small = gzipSync(JSON.stringify({ email: "x".repeat(20_000) }));
    for (const path of ["/auth/v1/recover", "/oauth/register"])
      expect([path, (await send(path, small, "gzip")).status]).toEqual([path, 413]);
  });

  test("Refuses bytes that contradict Content-Encoding, and unknown encodings", async () => {
    const text = JSON.stringify(costMessage());
    const whole = gzipSync(text);
    const flipped = Buffer.from(whole);
    flipped[flipped.length - 6] = (flipped[flipped.length - 6] ?? 0) ^ 0xff;
    for (const path of [
      "/api/v1/messages",
      "/api/v1/messages/batch",
      "/oauth/register",
      "/auth/v1/recover",
    ]) {
      for (const bytes of [Buffer.from(text), whole.subarray(0, 40), flipped, Buffer.alloc(0)]) {
        const { status, body } = await send(path, bytes, "gzip");
        expect([path, status, body.issues?.[0]?.path]).toEqual([path, 400, "Content-Encoding"]);
      }
      for (const [encoding, bytes] of [
        ["br", brotliCompressSync(text)],
        ["gzip, gzip", gzipSync(whole)],
        ["constructor", whole],
      ] as const) {
        const { status, headers, body } = await send(path, bytes, encoding);
        expect([path, status, headers.get("accept-encoding")]).toEqual([path, 415, "gzip, deflate"]);
        expect(body.error_description).toContain("gzip or deflate");
      }
    }
  });
});
