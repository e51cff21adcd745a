import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { accountForPostgres } from "@/lib/db/embedded/account";
import { freePort } from "@/tests/helpers/free-port";

/**
 * Starts PgBouncer (`PGBOUNCER_BIN`, or the one on the PATH) in transaction mode on a free port, which accepts TLS only, in front
 * of every database of a server.
 * @param folder has the certificate; `keyFile` its key. @param server the address of the login that it admits
 * @returns the address of this login by the pooler
 */
export async function startPooler({
  folder,
  keyFile,
  server,
}: {
  folder: string;
  keyFile: string;
  server: string;
}) {
  const { hostname, port: serverPort, username, password, pathname } = new URL(server);
  const port = await freePort();
  const settings = {
    listen_addr: "127.0.0.1",
    listen_port: port,
    unix_socket_dir: "",
    auth_type: "scram-sha-256",
    auth_file: join(folder, "users.txt"),
    pool_mode: "transaction",
    max_client_conn: 500,
    default_pool_size: 20,
    client_tls_sslmode: "require",
    client_tls_key_file: keyFile,
    client_tls_cert_file: join(folder, "server.pem"),
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}`);
  const file = join(folder, "pgbouncer.ini");
  writeFileSync(
    file,
    `[databases]\n* = host=${hostname} port=${serverPort}\n[pgbouncer]\n${lines.join("\n")}\n`,
  );
  writeFileSync(settings.auth_file, `"${username}" "${password}"\n`);
  for (const each of [file, settings.auth_file]) chmodSync(each, 0o644);
  const account = accountForPostgres(undefined);
  const child = spawn(process.env.PGBOUNCER_BIN || "pgbouncer", [file], {
    stdio: ["ignore", "ignore", "pipe"],
    ...(account && { uid: account.uid, gid: account.gid }),
  });
  const gone = new Promise<never>((_, reject) => {
    child.once("error", (error) =>
      reject(
        new Error(
          `PgBouncer does not start (${error.message}): install the package pgbouncer, or set PGBOUNCER_BIN.`,
        ),
      ),
    );
    child.once("exit", (status) => reject(new Error(`PgBouncer ended with ${status}:\n${said.join("\n")}`)));
  });
  const said: string[] = [];
  const output = createInterface({ input: child.stderr });
  const ready = new Promise<void>((resolve) => {
    output.on("line", (line) => {
      said.push(line);
      if (/process up/.test(line)) resolve();
    });
  });
  await Promise.race([ready, gone]);
  gone.catch(() => {});
  return {
    url: `postgresql://${username}:${password}@localhost:${port}${pathname}?sslmode=require`,
    stop: async () => {
      const ended = once(child, "exit");
      child.kill("SIGTERM");
      await ended;
    },
  };
}
