import type { Example } from "./examples/example-set";

/** A JSON Schema (draft 2020-12) as far as this service's document uses it. */
export type JsonSchema = {
  $ref?: string;
  type?: string | string[];
  format?: string;
  title?: string;
  description?: string;
  default?: unknown;
  const?: unknown;
  enum?: unknown[];
  examples?: unknown[];
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  exclusiveMaximum?: number;
  minItems?: number;
  maxItems?: number;
  uniqueItems?: boolean;
  maxProperties?: number;
  items?: JsonSchema;
  properties?: Record<string, JsonSchema>;
  propertyNames?: JsonSchema;
  required?: string[];
  additionalProperties?: boolean | JsonSchema;
  oneOf?: JsonSchema[];
  anyOf?: JsonSchema[];
  allOf?: JsonSchema[];
  discriminator?: { propertyName: string; mapping?: Record<string, string> };
};

/** A reference into `components`. */
export type Reference = { $ref: string };

/** What a body may be. */
export type MediaType = { schema: JsonSchema; examples?: Record<string, Example> };

/** A parameter of an operation. */
export type Parameter = {
  name: string;
  in: "path" | "query" | "header";
  required: boolean;
  description?: string;
  schema: JsonSchema;
  example?: unknown;
};

/** A header of a response. */
export type Header = { description: string; schema: JsonSchema; example?: unknown };

/** An answer with one status. */
export type ApiResponse = {
  description: string;
  headers?: Record<string, Reference>;
  content?: Record<string, MediaType>;
};

/** One method of one path. */
export type Operation = {
  operationId: string;
  summary: string;
  description?: string;
  tags: string[];
  /** Empty where no credentials are needed. */
  security: Record<string, string[]>[];
  /** The permission that the credentials need, or the sentence that says which one when. */
  "x-permission"?: string;
  /** The least role in the workspace that may call. */
  "x-role"?: string;
  parameters?: Parameter[];
  requestBody?: { required: true; description: string; content: Record<string, MediaType> };
  responses: Record<string, ApiResponse>;
};

/** The OpenAPI 3.1 document, as far as this service's uses it. */
export type OpenApiDocument = {
  openapi: "3.1.0";
  info: {
    title: string;
    version: string;
    description: string;
    license: { name: string; identifier: string };
  };
  servers: { url: string }[];
  tags: { name: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: {
    schemas: Record<string, JsonSchema>;
    headers: Record<string, Header>;
    securitySchemes: Record<string, Record<string, string>>;
  };
};
