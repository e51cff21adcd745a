import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { generateSecret } from "@/lib/keys/secret";

/** The demo key of an embedded database: made once, kept in `demo-key` in the data folder for its owner's eyes. */
export function demoKeyIn(dataDir: string): string {
  const file = join(dataDir, "demo-key");
  if (existsSync(file)) return readFileSync(file, "utf8").trim();
  const secret = generateSecret();
  writeFileSync(file, `${secret}\n`, { mode: 0o600 });
  return secret;
}

/** What to try first: a line that records a cost, and one that reads it back. */
export function invitation(address: string, demoKey: string): string {
  const authorization = `-H 'Authorization: Bearer ${demoKey}'`;
  const body = JSON.stringify({
    project: "first-steps",
    source: "api",
    message: {
      type: "usage",
      provider: "openai",
      model: "gpt-4o",
      unit_type: "input_tokens",
      quantity: 1200,
    },
  });
  return `
  Demo key: ${demoKey}
  Record a cost:
    curl ${address}/api/v1/messages ${authorization} -H 'Content-Type: application/json' -d '${body}'
  Read this month:
    curl ${address}/api/v1/summary/month ${authorization}
`;
}
