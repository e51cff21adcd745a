// `npm run test:deployments [-- NAME…]`: runs the commands and configuration of docs/deploy.md as they stand there, on this machine:
// one-machine, own-postgres, several-processes, replica. Needs root on Debian 12 with nginx, pgbouncer, postgresql-15 and sudo, and
// changes the machine (a user, files in /etc and /var/lib), which it puts back at the end. Not part of `npm test`.
import { join } from "node:path";
import { serverBundle } from "./bundles.mjs";
import { ensureBuilt, ensureInstalled, requireNode } from "./prepare.mjs";
import { root } from "./root.mjs";

requireNode();
process.chdir(root);
await ensureInstalled();
await ensureBuilt();
const esbuild = await import("esbuild");
const bundle = "dist/test-deployments.mjs";
await esbuild.build(serverBundle(bundle, "tests/deployments/main.ts"));
await import(join(root, bundle));
