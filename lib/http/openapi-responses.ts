import { responseExamples } from "@/lib/contract/examples";
import type { ApiResponse, Header, JsonSchema, SchemaReference } from "@/lib/contract/openapi";
import type { ErrorCode } from "@/lib/errors";
import type { Endpoint } from "./define-route";
import { errorReference, exampleError } from "./error-reference";
import { idOf, type SchemaComponents } from "./openapi-schemas";
import { mediaTypeOf } from "./streamed";

/** Every header that a response may have. */
export const responseHeaders: Record<string, Header> = {
  "X-Request-Id": {
    description: "An id of this request; the same as `request_id` in an error's body.",
    schema: { type: "string" },
    example: "req_0b9f6c1e-5d0e-4b0a-9c55-6c2a3f1d7e84",
  },
  "RateLimit-Policy": {
    description: "The key's rate: `q` requests in any `w` seconds. Absent where the key has no rate limit.",
    schema: { type: "string" },
    example: '"key";q=600;w=60',
  },
  RateLimit: {
    description:
      "What is left of it: `r` requests now, and more in `t` seconds. Absent where the key has no rate limit.",
    schema: { type: "string" },
    example: '"key";r=598;t=41',
  },
  "Retry-After": { description: "Seconds to wait.", schema: { type: "integer" }, example: 12 },
  "WWW-Authenticate": {
    description: "How to authenticate.",
    schema: { type: "string" },
    example: 'Bearer realm="outlay"',
  },
  "Idempotent-Replayed": {
    description:
      "`true` where the message had been recorded before, and this is the first answer again. Absent otherwise.",
    schema: { type: "string", enum: ["true"] },
  },
};

const successes: Record<number, string> = { 201: "Made and stored.", 207: "A verdict for each item." };

/**
 * The response of a successful request.
 * @param limited whether the caller has a rate limit, which headers report
 * @param remembers whether a repeated request gets the first response again
 */
export function successResponse(
  { response, status }: Endpoint,
  limited: boolean,
  remembers: boolean,
  components: SchemaComponents,
): ApiResponse {
  const schema = components.add(response, "output");
  const example = schema.$ref && responseExamples[idOf(schema)];
  return {
    description: successes[status ?? 200] ?? "Success.",
    headers: refer([
      "X-Request-Id",
      ...(limited ? ["RateLimit-Policy", "RateLimit"] : []),
      ...(remembers ? ["Idempotent-Replayed"] : []),
    ]),
    content: {
      [mediaTypeOf(response) ?? "application/json"]: {
        schema,
        ...(example ? { examples: { success: { value: example } } } : {}),
      },
    },
  };
}

type Form = Omit<NonNullable<Endpoint["errorBody"]>, "schema"> & { schema: JsonSchema };

/**
 * The error responses of one status: all codes that have it, with their documentation and examples.
 * @param form the form of their bodies, if a protocol defines another one than the service's
 */
export function errorResponseOf(codes: ErrorCode[], limited: boolean, form?: Form): ApiResponse {
  const names = [
    "X-Request-Id",
    ...(codes.includes("missing_credentials") ? ["WWW-Authenticate"] : []),
    ...(codes.includes("rate_limited") || codes.includes("unavailable") ? ["Retry-After"] : []),
    ...(limited && codes.includes("rate_limited") ? ["RateLimit-Policy", "RateLimit"] : []),
  ];
  const fields = codes.flatMap((code) => Object.entries(errorReference[code].fields ?? {}));
  const schema: JsonSchema = {
    allOf: [
      { $ref: "#/components/schemas/Error" },
      {
        type: "object",
        properties: {
          error: { type: "string", enum: codes },
          ...Object.fromEntries(fields.map(([name, field]) => [name, field.schema])),
        },
      },
    ],
  };
  const examples = codes.map((code) => [
    code,
    {
      summary: errorReference[code].when,
      value: form ? form.example(code, errorReference[code].says) : exampleError(code),
    },
  ]);
  return {
    description: codes.map((code) => `\`${code}\`: ${errorReference[code].when}`).join("\n\n"),
    headers: refer(names),
    content: {
      "application/json": { schema: form?.schema ?? schema, examples: Object.fromEntries(examples) },
    },
  };
}

function refer(names: string[]): Record<string, SchemaReference> {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
