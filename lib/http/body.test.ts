import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { ServiceError } from "@/lib/errors";
import { readJsonBody } from "./body";
import { writeJson } from "./json";

const limit = 64 * 1024;
const precise = "0.12345678901234567";

function requestWith(body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}): Request {
  return new Request("http://localhost/", {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "content-length": String(Buffer.byteLength(body)),
      ...headers,
    },
    body,
  });
}

describe("Reading a body whose caller must be looked up", () => {
  /** Reads a body. @returns how often the caller was looked up, and the body or its refusal */
  const read = async (request: Request, isKnown = true) => {
    let asked = 0;
    const require = async () => {
      asked += 1;
      if (!isKnown) throw new ServiceError("invalid_credentials", "Who?");
    };
    const body = await readJsonBody(request, limit, { require }).catch((error) => error);
    return { asked, body };
  };

  test("Parses a usual message without an extra lookup", async () => {
    const message = {
      project: "checkout",
      source: "api",
      idempotency_key: "2026-11-21T04:28:16.252Z/1700000000000000000",
      message: { type: "usage", provider: "openai", unit_type: "tokens", quantity: 1200, metadata: { a: 1 } },
    };
    expect(await read(requestWith(JSON.stringify(message)))).toEqual({ asked: 0, body: message });
  });

  test.each([
    ["is long", requestWith(JSON.stringify("x".repeat(2_100)))],
    [
      "has no declared length",
      new Request("http://localhost/", {
        method: "POST",
        body: new Blob(["1"], { type: "application/json" }),
      }),
    ],
    ["is compressed", requestWith(gzipSync("1"), { "content-encoding": "gzip" })],
    ["has numbers that need the exact parser", requestWith(`{"quantity":${precise}}`)],
    ["has many parts", requestWith(`[${"0,".repeat(70)}0]`)],
  ])(
    "Asks once who is calling before it parses a body that %s, and parses none for a stranger",
    async (_, request) => {
      expect((await read(request.clone())).asked).toBe(1);
      expect(await read(request, false)).toMatchObject({ asked: 1, body: { code: "invalid_credentials" } });
    },
  );

  test.each([
    `[${precise}]`,
    `{"a":${precise}}`,
    `{"a": -${precise}}`,
    `[1,${precise}]`,
    precise,
    `\n${precise}`,
  ])("Loses no digit of %s", async (text) => {
    const { body } = await read(requestWith(text));
    expect(writeJson(body)).toContain(precise);
  });
});

test("Never parses an unknown caller's numbers exactly", async () => {
  expect(await readJsonBody(requestWith(`[${precise}]`), limit, "anybody")).toEqual([Number(precise)]);
});
