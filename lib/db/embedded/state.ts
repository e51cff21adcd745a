import { randomBytes } from "node:crypto";
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";

/** The logins of the embedded Postgres. */
export const logins = ["supabase_admin", "postgres", "outlay_service"] as const;
export type Login = (typeof logins)[number];

const schema = z.object({
  /** The path of the data folder. A different one means that the folder was moved or copied. */
  dataDir: z.string(),
  /** The cluster's home, if it is not in the data folder. */
  home: z.string().optional(),
  /** The port of the last start. It is used again if it is free, so that URLs stay the same. */
  port: z.number().int().optional(),
  passwords: z.record(z.enum(logins), z.string()),
});

/** The state of a data folder, stored in its file `postgres.json`, which only the owner can read. */
export type State = z.output<typeof schema>;

/** Whether a data folder has a database. */
export function hasState(dataDir: string): boolean {
  return existsSync(stateFile(dataDir));
}

/** Reads the state of a data folder, or creates one with new passwords (not yet written). @throws Error */
export function readState(dataDir: string): State {
  const file = stateFile(dataDir);
  if (!existsSync(file)) {
    const password = () => randomBytes(24).toString("base64url");
    return {
      dataDir,
      passwords: { supabase_admin: password(), postgres: password(), outlay_service: password() },
    };
  }
  return parseState(readFileSync(file, "utf8"), file);
}

/** Parses the state of a data folder. @param file its path, for the error @throws Error */
export function parseState(text: string, file: string): State {
  try {
    return schema.parse(JSON.parse(text));
  } catch (cause) {
    throw new Error(`${file} cannot be read; it holds the embedded database's passwords.`, { cause });
  }
}

/** Writes the state atomically: a crash leaves either the old or the new state. */
export function writeState(dataDir: string, state: State): void {
  const file = stateFile(dataDir);
  writeFileSync(`${file}.new`, `${JSON.stringify(state, null, 2)}\n`, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

function stateFile(dataDir: string): string {
  return join(dataDir, "postgres.json");
}
