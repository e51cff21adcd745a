import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { type Call, writeSnippets } from "./snippets";

const body = {
  project: "checkout",
  note: "it's $5 and `more`",
  recurring: true,
  plan: null,
  items: [{ quantity: 1.5 }],
};
const call: Call = {
  method: "POST",
  url: "https://outlay.example.com/api/v1/messages",
  credential: "key",
  body,
};

function codeOf(label: string, made: Call = call): string {
  return writeSnippets(made).find((snippet) => snippet.label === label)?.code ?? "";
}

test("Passes the body through the shell unchanged in the curl example, quotes and dollars included", () => {
  const script = `curl() { for last; do :; done; printf '%s' "$last"; }\n${codeOf("curl")}`;
  expect(JSON.parse(execFileSync("sh", ["-c", script], { encoding: "utf8" }))).toEqual(body);
});

test("Sends the body in the TypeScript example", async () => {
  let sent: { url: string; body?: unknown } | undefined;
  const fetch = async (url: string, options: { body: string }) => {
    sent = { url, body: JSON.parse(options.body) };
    return { ok: true, json: async () => ({}) };
  };
  const run = new Function("fetch", `return (async () => { ${codeOf("TypeScript")} })()`);
  await run(fetch);
  expect(sent).toEqual({ url: call.url, body });
});

test("Writes Python's constants in the Python example, outside of strings only", () => {
  const code = codeOf("Python", { ...call, body: { ...body, label: "is true, or null" } });
  expect(code).toContain('"recurring": True,');
  expect(code).toContain('"plan": None,');
  expect(code).toContain('"is true, or null"');
  expect(code).toContain("parse_float=Decimal");
});

test("Asks for no credentials that the endpoint does not need", () => {
  for (const { code } of writeSnippets({
    method: "GET",
    url: "https://x.example.com/api/health",
    credential: "none",
  }))
    expect(code).not.toContain("Authorization");
  expect(codeOf("curl", { ...call, credential: "user" })).toContain("$OUTLAY_USER_TOKEN");
});

test("Puts a given secret into every example, which then reads no environment variable", () => {
  for (const { code } of writeSnippets({ ...call, secret: "svc_live_x" })) {
    expect(code).toContain("Bearer svc_live_x");
    expect(code).not.toMatch(/OUTLAY_API_KEY|environ|process\.env|import os/);
  }
});
