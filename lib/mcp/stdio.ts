import { randomUUID } from "node:crypto";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { isWellFormedSecret } from "@/lib/access/secrets/secret";
import { ServiceError } from "@/lib/errors";
import type { Backend } from "./backend";
import { type RestAccess, restBackend } from "./rest-backend";
import { Retries } from "./retries";
import { createToolServer } from "./server";

/** The environment variables that configure the local agent tools. */
type Settings = { SVC_API_KEY?: string | undefined; SVC_BASE_URL?: string | undefined };

/** A missing or wrong setting. The message names the variable and the remedy. */
export class SettingsError extends Error {
  override name = "SettingsError";
}

/**
 * Reads the local tools' settings.
 * @throws SettingsError naming the variable and the remedy
 */
export function readAccess({ SVC_API_KEY: apiKey, SVC_BASE_URL: baseUrl }: Settings): RestAccess {
  if (!baseUrl) {
    throw new SettingsError(
      "SVC_BASE_URL is not set. Set it to the address of your Outlay service, for example http://127.0.0.1:3000.",
    );
  }
  if (!URL.canParse(baseUrl) || !/^https?:$/.test(new URL(baseUrl).protocol)) {
    throw new SettingsError(
      `SVC_BASE_URL is ${JSON.stringify(baseUrl)}, which is not an address. It must begin with http:// or https://.`,
    );
  }
  if (!apiKey) {
    throw new SettingsError(
      "SVC_API_KEY is not set. Make an API key in Outlay's dashboard, and set it to its secret.",
    );
  }
  if (apiKey.startsWith("svc_live_") && !isWellFormedSecret(apiKey)) {
    throw new SettingsError(
      "SVC_API_KEY is not a complete API key: its checksum does not match. Copy the secret again, from svc_live_ to its last letter.",
    );
  }
  const { origin, pathname } = new URL(baseUrl);
  return { baseUrl: origin + pathname.replace(/\/+$/, ""), apiKey };
}

/**
 * Serves the agent tools on standard input and output until the client closes them. Standard output carries
 * protocol messages only.
 * @param say writes a line to standard error, for the user
 */
export function serveTools(access: RestAccess, say: (line: string) => void): void {
  const backend = restBackend(access);
  const retries = new Retries();
  const session = `stdio:${randomUUID()}`;
  const report = (error: unknown) => say(error instanceof Error ? error.message : String(error));
  serveStdio(() => createToolServer({ where: "local", backend, retries, caller: "local", session, report }), {
    onerror: report,
  });
  void checkAccess(backend, report);
}

/** Reports a wrong address or key when the program starts, before a model calls a tool. */
async function checkAccess(backend: Backend, report: (error: unknown) => void): Promise<void> {
  try {
    await backend.readBudgetStatus();
  } catch (error) {
    // A key that may record but not read is valid.
    if (!(error instanceof ServiceError && error.code === "permission_denied")) report(error);
  }
}
