import { LosslessNumber, parse, stringify } from "lossless-json";

/** An answer whose numbers are text, so that no digit passes through a float. */
export type ExactAnswer = { status: number; headers: Headers; body: Record<string, unknown> };

/** Fields that are text in the tests and JSON numbers on the wire. */
const numbers = new Set(["quantity", "cached_quantity", "estimated_cost", "amount", "percent"]);

/** JSON in which the decimals of messages are numbers with the digits of the test. */
export function toJson(value: unknown): string {
  const convert = (inner: unknown, name = ""): unknown => {
    if (typeof inner === "string") return numbers.has(name) ? new LosslessNumber(inner) : inner;
    if (Array.isArray(inner)) return inner.map((item) => convert(item));
    if (typeof inner !== "object" || inner === null) return inner;
    return Object.fromEntries(Object.entries(inner).map(([field, of]) => [field, convert(of, field)]));
  };
  return stringify(convert(value)) ?? "null";
}

/** A client of a service that reads answers without losing digits. */
export function exactClient(baseUrl: string, secret: string) {
  const call = async (method: string, path: string, body?: unknown): Promise<ExactAnswer> => {
    const response = await fetch(baseUrl + path, {
      method,
      headers: {
        authorization: `Bearer ${secret}`,
        ...(body !== undefined && { "content-type": "application/json" }),
      },
      ...(body !== undefined && { body: toJson(body) }),
    });
    const parsed = parse(await response.text(), null, { parseNumber: (text) => text });
    return { status: response.status, headers: response.headers, body: parsed as Record<string, unknown> };
  };
  return {
    get: (path: string) => call("GET", path),
    send: (path: string, body: unknown) => call("POST", path, body),
    post: (body: unknown) => call("POST", "/api/v1/messages", body),
    bulk: (messages: unknown[], query = "") => call("POST", `/api/v1/messages/batch${query}`, { messages }),
  };
}

export type ExactClient = ReturnType<typeof exactClient>;
