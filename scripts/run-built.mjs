// `node scripts/run-built.mjs [command] [arguments]`: runs the service, or a command (`reconcile`, `import`), from a build without sources,
// as in the container image. In a checkout, use `npm start` and `npm run`.
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const [command, ...args] = process.argv.slice(2);
process.env.NODE_ENV ??= "production";
process.setSourceMapsEnabled(true);

const callerDir = process.cwd();
process.chdir(fileURLToPath(new URL("..", import.meta.url)));
if (command === undefined) {
  const { main } = await import("../dist/server.mjs");
  await main({ dev: false });
} else if (!/^[a-z-]+$/.test(command) || !existsSync(`dist/${command}.mjs`)) {
  process.stderr.write(`There is no command ${command}.\n`);
  process.exitCode = 2;
} else {
  process.env.LOG_LEVEL ??= "error";
  try {
    const { main } = await import(`../dist/${command}.mjs`);
    process.exitCode = await main(args, callerDir);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
    process.exitCode = 2;
  }
}
