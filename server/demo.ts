import { randomBytes } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { generateSecret } from "@/lib/keys/secret";
import type { DemoAccess } from "@/lib/ledger/demo/seed";

/** The demo's secrets in an embedded database. They are created once and stored in files of the data folder. */
export function demoAccessIn(dataDir: string): DemoAccess {
  return {
    email: "demo@outlay.local",
    password: keptIn(join(dataDir, "demo-password"), () => randomBytes(9).toString("base64url")),
    key: keptIn(join(dataDir, "demo-key"), generateSecret),
  };
}

/** The operator's token of an embedded database: the same at every start, so that a link that was printed stays good. */
export function operatorTokenIn(dataDir: string): string {
  return keptIn(join(dataDir, "operator-token"), newOperatorToken);
}

/** A new token for the operator (`lib/access/operator-token.ts`). */
export function newOperatorToken(): string {
  return randomBytes(24).toString("base64url");
}

function keptIn(file: string, make: () => string): string {
  if (existsSync(file)) return readFileSync(file, "utf8").trim();
  const secret = make();
  writeFileSync(file, `${secret}\n`, { mode: 0o600 });
  return secret;
}
