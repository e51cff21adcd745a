import type { Language } from "@/components/ui/highlight";

/** The code of a request in one language. */
export type Snippet = { label: string; language: Language; code: string };

/** The credential of a call: none, an API key, or the access token of a user. */
export type Credential = "none" | "key" | "user";

/**
 * A call to write code for. The code reads the credential from the environment, unless `secret` is given, such as that of a
 * new key; the copied code then works as it is.
 */
export type Call = { method: string; url: string; credential: Credential; body?: unknown; secret?: string };

/** The environment variable of each credential. */
const variables: Record<Credential, string> = { none: "", key: "OUTLAY_API_KEY", user: "OUTLAY_USER_TOKEN" };

/** The code of a call in every language of the reference. */
export function writeSnippets(call: Call): Snippet[] {
  return [
    { label: "curl", language: "bash", code: writeCurl(call) },
    { label: "TypeScript", language: "typescript", code: writeTypeScript(call) },
    { label: "Python", language: "python", code: writePython(call) },
  ];
}

function writeCurl({ method, url, credential, body, secret }: Call): string {
  const variable = variables[credential];
  const flags = [
    ...(method === "GET" || (method === "POST" && body !== undefined) ? [] : [`-X ${method}`]),
    ...(variable ? [`-H "Authorization: Bearer ${secret ?? `$${variable}`}"`] : []),
    ...(body === undefined
      ? []
      : ['-H "Content-Type: application/json"', `-d '${pretty(body).replaceAll("'", `'\\''`)}'`]),
  ];
  return [`curl ${url}`, ...flags].join(" \\\n  ");
}

function writeTypeScript({ method, url, credential, body, secret }: Call): string {
  const variable = variables[credential];
  const bearer = secret ? `"Bearer ${secret}"` : `\`Bearer \${process.env.${variable}}\``;
  const headers = [
    ...(variable ? [`Authorization: ${bearer},`] : []),
    ...(body === undefined ? [] : ['"Content-Type": "application/json",']),
  ];
  const options = [
    ...(method === "GET" ? [] : [`method: "${method}",`]),
    ...(headers.length > 0 ? ["headers: {", ...headers.map((line) => `  ${line}`), "},"] : []),
    ...(body === undefined ? [] : [`body: JSON.stringify(${literal(body)}),`]),
  ].flatMap((part) => part.split("\n"));
  const call =
    options.length === 0
      ? [`const response = await fetch("${url}");`]
      : [`const response = await fetch("${url}", {`, ...options.map((line) => `  ${line}`), "});"];
  return [
    ...call,
    "if (!response.ok) throw new Error(await response.text());",
    "const result = await response.json();",
  ].join("\n");
}

function writePython({ method, url, credential, body, secret }: Call): string {
  const variable = variables[credential];
  const bearer = secret ? `"Bearer ${secret}"` : `f"Bearer {os.environ['${variable}']}"`;
  const options = [
    ...(variable ? [`headers={"Authorization": ${bearer}},`] : []),
    ...(body === undefined ? [] : [`json=${pythonLiteral(body)},`]),
  ].flatMap((part) => part.split("\n"));
  const name = method.toLowerCase();
  const call =
    options.length === 0
      ? [`response = requests.${name}("${url}")`]
      : [`response = requests.${name}(`, `    "${url}",`, ...options.map((line) => `    ${line}`), ")"];
  return [
    ...(variable && !secret ? ["import os"] : []),
    "from decimal import Decimal",
    "import requests",
    "",
    ...call,
    "response.raise_for_status()",
    "result = response.json(parse_float=Decimal)",
  ].join("\n");
}

const pretty = (value: unknown) => JSON.stringify(value, null, 2);

/** A JavaScript literal: JSON with unquoted names. */
function literal(value: unknown): string {
  return pretty(value).replace(/^(\s*)"([A-Za-z_]\w*)":/gm, "$1$2:");
}

/** A Python literal: JSON with Python's constants. */
function pythonLiteral(value: unknown): string {
  const words: Record<string, string> = { true: "True", false: "False", null: "None" };
  return JSON.stringify(value, null, 4).replace(
    /(^|: )(true|false|null)(,?)$/gm,
    (_, before: string, word: string, comma: string) => before + words[word] + comma,
  );
}
