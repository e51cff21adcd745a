import { join } from "node:path";
import { bootstrapDatabaseAt } from "@/lib/db/migrate";
import { copyTemplate, type TestCluster } from "@/tests/helpers/cluster";
import { projectRoot } from "@/tests/helpers/project-root";
import { startService } from "@/tests/helpers/service";
import { bundleServer } from "./programs";

type Schema = { $ref?: string; properties?: Record<string, Schema> };
type Body = { schema: Schema; example?: unknown; examples?: Record<string, { value?: unknown }> };
type Parameter = { in: string; name: string; required?: boolean; example?: unknown; schema: Choices };
type Choices = { enum?: unknown[]; default?: unknown };
type Operation = { requestBody?: { content: Record<string, Body> }; parameters?: Parameter[] };
type Document = { paths: Record<string, Record<string, Operation>> };

/** A request of the comparison, and the answer without what differs from run to run. */
type Exchange = { request: string; answer: string };

type Caller = "owner" | "viewer" | "key" | "stranger";

/**
 * Sends the same requests to the service of a commit and to the present one, and prints each answer that differs: each
 * operation of the earlier one's OpenAPI document with its examples, with wrong bodies and as each caller.
 * @returns how many answers differ
 */
export async function compareAnswers(checkout: string, cluster: TestCluster): Promise<number> {
  let operations: Document | undefined;
  const sides: Exchange[][] = [];
  for (const root of [checkout, projectRoot]) {
    const database = await copyTemplate(cluster, null);
    await bootstrapDatabaseAt(database.superuserUrl, join(root, "supabase/bootstrap"));
    const program = await bundleServer(root);
    if (!program) throw new Error(`The server of ${root} cannot be built.`);
    const service = await startService(database, { RATE_LIMITS: "off" }, program);
    try {
      operations ??= (await (await fetch(`${service.baseUrl}/api/openapi.json`)).json()) as Document;
      sides.push(await new Conversation(service.baseUrl).hold(operations));
    } finally {
      await service.stop();
      await database.drop();
    }
  }
  const [before = [], after = []] = sides;
  const differing = before.filter(({ answer }, index) => answer !== after[index]?.answer);
  for (const [index, { request, answer }] of before.entries()) {
    const other = after[index]?.answer ?? "";
    if (answer === other) continue;
    const equal = [...answer].findIndex((character, at) => character !== other[at]);
    const shown = (text: string) => JSON.stringify(text.slice(Math.max(0, equal - 60), equal + 240));
    process.stdout.write(`${request}\n  before: ${shown(answer)}\n  after:  ${shown(other)}\n`);
  }
  const succeeded = before.filter(({ answer }) => answer.startsWith("2")).length;
  process.stdout.write(
    `${before.length} requests, ${succeeded} of which succeed; ${differing.length} answers differ\n`,
  );
  return differing.length;
}

class Conversation {
  readonly #baseUrl: string;
  readonly #tokens: Record<Caller, string> = { owner: "", viewer: "", key: "", stranger: "" };
  /** The id that the last creation in a collection answered, by the collection's name. */
  readonly #ids = new Map<string, string>();
  readonly #names = new Map<string, string>();
  readonly #held: Exchange[] = [];

  constructor(baseUrl: string) {
    this.#baseUrl = baseUrl;
  }

  async hold({ paths }: Document): Promise<Exchange[]> {
    for (const caller of ["owner", "viewer"] as const) {
      const account = { email: `${caller}@example.com`, password: "correct horse battery" };
      const { access_token } = await this.#send("stranger", "POST", "/auth/v1/signup", account);
      this.#tokens[caller] = String(access_token);
    }
    await this.#send("owner", "POST", "/api/v1/workspaces", { name: "Acme", slug: "acme" });
    const permissions = ["log_usage", "add_expenses", "manage_subscriptions", "read_summaries"];
    const { secret } = await this.#send("owner", "POST", "/api/v1/workspaces/acme/api-keys", {
      name: "All",
      permissions,
    });
    this.#tokens.key = String(secret);

    await this.#record();
    const listed = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({
        path,
        method: method.toUpperCase(),
        operation,
      })),
    );
    const order = ["PUT", "POST", "PATCH", "GET", "DELETE"];
    listed.sort((one, other) => order.indexOf(one.method) - order.indexOf(other.method));
    for (const { path, method, operation } of listed) {
      // After these the other requests would be refused.
      if (path.endsWith("/deletion") || (path === "/api/v1/workspaces/{slug}" && method === "DELETE"))
        continue;
      const caller = path.startsWith("/api/v1/workspaces") ? "owner" : "key";
      const examples = examplesOf(operation);
      for (const body of examples) await this.#send(caller, method, path, body);
      for (const query of queriesOf(operation)) await this.#send(caller, method, path + query, examples[0]);
      if (operation.requestBody) {
        await this.#send(caller, method, path, {});
        await this.#send(caller, method, path, "not an object");
        for (const broken of breakEach(examples[0])) await this.#send(caller, method, path, broken);
      }
      for (const other of ["viewer", "stranger"] as const) await this.#send(other, method, path, examples[0]);
    }
    return this.#held;
  }

  /** Costs of all kinds, right and wrong, each also once more. */
  async #record(): Promise<void> {
    const units = ["input_tokens", "output_tokens", "cached_input_tokens", "requests", "images", "nonsense"];
    const models = ["gpt-4o", "claude-sonnet-4-5", "no-such-model", ""];
    for (let number = 0; number < 60; number += 1) {
      const usage = {
        type: "usage",
        provider: ["openai", "anthropic", "OpenAI"][number % 3],
        model: models[number % 4],
        unit_type: units[number % 6],
        quantity: [1, 1_000, 0.5, -1, 10 ** 9][number % 5],
        ...(number % 7 === 0 && { estimated_cost: number / 8 }),
        ...(number % 4 === 0 && { feature: "chat", user: "ann@example.com" }),
      };
      const expense = {
        type: "expense",
        vendor: "Figma",
        amount: [12.5, 0, -3, 1e-9][number % 4],
        currency: ["USD", "USD", "dollars", "XXX"][number % 4],
      };
      const message = number % 3 === 0 ? expense : usage;
      const body = { project: ["checkout", "support", "nowhere"][number % 3], source: "api", message };
      for (const _ of [1, 2])
        await this.#send("key", "POST", "/api/v1/messages", body, { "Idempotency-Key": `call-${number}` });
    }
  }

  async #send(
    caller: Caller,
    method: string,
    path: string,
    body?: unknown,
    more: Record<string, string> = {},
  ): Promise<Record<string, unknown>> {
    const address = path
      .replace("projects/{slug}", "projects/checkout")
      .replace("{slug}", "acme")
      .replace(/\{[^}]+\}/g, (_, offset: number) => {
        return this.#ids.get(collectionOf(path.slice(0, offset - 1))) ?? crypto.randomUUID();
      });
    const response = await fetch(this.#baseUrl + address, {
      method,
      redirect: "manual",
      headers: {
        ...(this.#tokens[caller] && { Authorization: `Bearer ${this.#tokens[caller]}` }),
        ...(body !== undefined && method !== "GET" && { "Content-Type": "application/json" }),
        ...more,
      },
      ...(body !== undefined && method !== "GET" && { body: JSON.stringify(body) }),
    });
    const type = response.headers.get("content-type");
    const text = type === "application/zip" ? "" : await response.text();
    const request = `${method} ${path} as ${caller}${body === undefined ? "" : ` ${JSON.stringify(body)}`}`;
    const answer = this.#plain(`${response.status} ${type} ${text}`);
    this.#held.push({ request: request.slice(0, 300), answer });
    const parsed = type?.includes("json") && text !== "" ? JSON.parse(text) : {};
    if (method === "POST" && response.ok && typeof parsed.id === "string")
      this.#ids.set(collectionOf(path), parsed.id);
    return parsed;
  }

  /** A name for an id: the same for the same id. */
  #nameOf(id: string): string {
    const name = this.#names.get(id) ?? `<id ${this.#names.size}>`;
    this.#names.set(id, name);
    return name;
  }

  /** An answer without secrets and times, and with names for its ids. */
  #plain(text: string): string {
    return text
      .replaceAll(this.#baseUrl, "<service>")
      .replace(
        /"(next_cursor|access_token|refresh_token|secret|signing_secret|prefix|last_four|token|link|url)":"[^"]+"/g,
        '"$1":"<secret>"',
      )
      .replace(/erased-[0-9a-f]{12}/g, "<pseudonym>")
      .replace(/"expires_at":\d+/g, '"expires_at":"<time>"')
      .replace(/"req_[^"]+"/g, '"<request>"')
      .replace(/\d{4}-\d\d-\d\dT[\d:.]+(Z|\+00:00)/g, "<time>")
      .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, (id) => this.#nameOf(id));
  }
}

/** The name of the collection that a path ends with. */
const collectionOf = (path: string) => path.slice(path.lastIndexOf("/") + 1);

/** Each value that a query parameter may have, beside the required ones; of parameters without examples one wrong value. */
function queriesOf({ parameters = [] }: Operation): string[] {
  const valuesOf = ({ name, example, schema }: Parameter): unknown[] =>
    name === "from" || name === "to"
      ? ["2026-11-01", "tomorrow"]
      : (schema.enum ?? (example === undefined ? [schema.default ?? "chat"] : [example]));
  const asked = parameters.filter((parameter) => parameter.in === "query");
  const required = asked.filter((parameter) => parameter.required);
  return asked.flatMap((parameter) =>
    valuesOf(parameter).map((value) => {
      const query = new URLSearchParams(required.map((each) => [each.name, String(valuesOf(each)[0])]));
      query.set(parameter.name, String(value));
      return `?${query}`;
    }),
  );
}

function examplesOf({ requestBody }: Operation): unknown[] {
  const { example, examples = {} } = requestBody?.content["application/json"] ?? {};
  const values = example === undefined ? Object.values(examples).map(({ value }) => value) : [example];
  // The versions may have been built with the rates of other days.
  return values.length === 0
    ? [undefined]
    : values.map((value) => JSON.parse(JSON.stringify(value).replaceAll("EUR", "USD")));
}

/** The body with each of its fields replaced by a value of a wrong type. */
function breakEach(body: unknown): unknown[] {
  if (typeof body !== "object" || body === null || Array.isArray(body)) return [];
  return Object.entries(body).map(([name, value]) => ({
    ...body,
    [name]: typeof value === "number" ? "many" : 7.25,
  }));
}
