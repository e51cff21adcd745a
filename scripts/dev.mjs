// The part of `npm run dev` after the install: bundles and restarts the server when one of its sources changes. Next reloads pages itself.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { watch } from "node:fs";
import { join } from "node:path";
import { context } from "esbuild";
import { buildDocs } from "./build.mjs";
import { serverBundle } from "./bundles.mjs";
import { writeRoutes } from "./generate-routes.mjs";
import { root } from "./root.mjs";

const outfile = join(root, "dist/server.dev.mjs");

/** Runs until a signal, or until the first start fails. */
export async function serveAndWatch() {
  let server;
  let stopping = false;
  /** Serialises restarts, because a source may change during a restart. */
  let turn = Promise.resolve();

  const stopServer = async () => {
    if (!server || server.exitCode !== null || server.signalCode !== null) return;
    server.kill("SIGTERM");
    await once(server, "exit");
  };
  const restart = async () => {
    await stopServer();
    if (stopping) return;
    const next = spawn(process.execPath, ["--enable-source-maps", outfile, "--dev"], {
      cwd: root,
      stdio: "inherit",
    });
    const isFirst = server === undefined;
    server = next;
    // The first start usually fails for reasons outside the sources (a port in use), so that a failure ends the command. Later starts fail
    // because of an edit; the next change starts the server again.
    if (isFirst)
      next.once("exit", (status) => !stopping && server === next && status && process.exit(status));
  };

  writeRoutes();
  await buildDocs();
  const bundler = await context({
    ...serverBundle(outfile),
    plugins: [
      {
        name: "restart",
        setup: ({ onEnd }) =>
          onEnd(({ errors }) => {
            if (errors.length === 0) turn = turn.then(restart);
          }),
      },
    ],
  });
  await bundler.watch();
  // The list of routes must name a new route file before the bundle contains it.
  const routes = watch(join(root, "app"), { recursive: true }, (event, file) => {
    if (event === "rename" && /route\.tsx?$/.test(file ?? "")) turn = turn.then(writeRoutes);
  });

  const stop = async () => {
    if (stopping) return;
    stopping = true;
    routes.close();
    await bundler.dispose();
    await turn;
    await stopServer();
    process.exit(0);
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, stop);
}
