import { z } from "zod";
import { parsePart } from "@/lib/contract/values/parse-part";
import { validationFailed } from "@/lib/errors";
import { defaultBodyLimit, readJsonBody, type Sender } from "./body";
import type { JsonBudget } from "./json-work";

export type Schema = z.ZodType;
/** The schema of a part of a request; undefined for an endpoint without that part. */
export type Part = Schema | undefined;
export type Output<S extends Part> = S extends Schema ? z.output<S> : undefined;

/** A request's parts as parsed by their schemas. */
export type Parsed<P extends Part, Q extends Part, B extends Part> = {
  params: Output<P>;
  query: Output<Q>;
  body: Output<B>;
};

/** The schemas of a request's parts. */
type Parts<P extends Part, Q extends Part, B extends Part> = {
  params?: P;
  query?: Q;
  body?: B;
  bodyLimitBytes?: number;
  bodyBudget?: JsonBudget;
};

/**
 * Parses the parts of a request by their schemas.
 * @param pathParams the values of the path's parameters, by name
 * @throws ServiceError validation_failed, or as `readJsonBody`
 */
export async function parseRequest<P extends Part, Q extends Part, B extends Part>(
  { params, query, body, bodyLimitBytes = defaultBodyLimit, bodyBudget }: Parts<P, Q, B>,
  request: Request,
  pathParams: Promise<unknown>,
  from?: Sender,
): Promise<Parsed<P, Q, B>> {
  return {
    params: await parseIf(params, () => pathParams, "path"),
    query: parseQuery(query, request),
    body: await parseIf(body, () => readJsonBody(request, bodyLimitBytes, from, bodyBudget), ""),
  };
}

/** Reads and parses a part if the endpoint has a schema for it. @throws ServiceError validation_failed */
function parseIf<S extends Part>(
  schema: S | undefined,
  read: () => Promise<unknown>,
  place: string,
): Promise<Output<S>>;
async function parseIf(schema: Part, read: () => Promise<unknown>, place: string): Promise<unknown> {
  return schema && requirePart(schema, await read(), place);
}

/**
 * Parses the query. Refuses unknown parameters, also on endpoints without any: ignoring one could give an answer that
 * the caller misreads.
 * @throws ServiceError validation_failed, which lists the known parameters
 */
function parseQuery<S extends Part>(schema: S | undefined, request: Request): Output<S>;
function parseQuery(schema: Part, request: Request): unknown {
  const given = parseParameters(request);
  if (schema && !(schema instanceof z.ZodObject)) return requirePart(schema, given, "query");
  const shape: object = schema?.shape ?? {};
  const unknown = Object.keys(given).filter((name) => !Object.hasOwn(shape, name));
  if (unknown.length > 0) {
    const known = Object.keys(shape);
    const hint = known.length > 0 ? `its parameters are: ${known.join(", ")}` : "it has no parameters";
    throw validationFailed(
      unknown.map((name) => ({
        path: `query.${name}`,
        message: `is not a parameter of this endpoint; ${hint}`,
      })),
    );
  }
  return schema && requirePart(schema, given, "query");
}

/** @throws ServiceError validation_failed for a repeated parameter, of which one value would be ignored silently */
function parseParameters(request: Request): Record<string, string> {
  const start = request.url.indexOf("?");
  if (start < 0) return {};
  const query = new URLSearchParams(request.url.slice(start));
  const names = [...query.keys()];
  const twice = new Set(names.filter((name, index) => names.indexOf(name) < index));
  if (twice.size > 0)
    throw validationFailed(
      [...twice].map((name) => ({ path: `query.${name}`, message: "must be given once" })),
    );
  return Object.fromEntries(query);
}

/** @param place prefix of the path of an issue. @throws ServiceError validation_failed */
function requirePart(schema: Schema, value: unknown, place: string): unknown {
  const read = parsePart(schema, value, place);
  if (read.ok) return read.value;
  throw validationFailed(read.issues);
}
