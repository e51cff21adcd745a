import type { Example } from "./examples/example-set";

/** The part of JSON Schema (draft 2020-12) that this service's document uses. */
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
export type SchemaReference = { $ref: string };

/** The body of a request or a response. */
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

/** A response with one status. */
export type ApiResponse = {
  description: string;
  headers?: Record<string, SchemaReference>;
  content?: Record<string, MediaType>;
};

/** One method of one path. */
export type Operation = {
  operationId: string;
  summary: string;
  description?: string;
  tags: string[];
  /** Empty if no credentials are needed. */
  security: Record<string, string[]>[];
  /** The permission that the credentials need, or a sentence that says which one when. */
  "x-permission"?: string;
  /** The least role in the workspace that may call. */
  "x-role"?: string;
  parameters?: Parameter[];
  requestBody?: { required: true; description: string; content: Record<string, MediaType> };
  responses: Record<string, ApiResponse>;
};

/** The part of an OpenAPI 3.1 document that this service uses. */
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
