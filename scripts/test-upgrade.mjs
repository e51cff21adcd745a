// `npm run test:upgrade [-- COMMIT…]`: fills a database with the service of each version of the main branch, upgrades it while killing the
// upgrade, and compares sums, schema and replays. Needs the whole history of Git; not part of `npm test`.
// `-- answers COMMIT` compares the answers of that commit with those of the present one.
// `-- cli` applies the migrations with the Supabase CLI, which npm fetches, and with psql.
import { join } from "node:path";
import { serverBundle } from "./bundles.mjs";
import { ensureInstalled, requireNode } from "./prepare.mjs";
import { root } from "./root.mjs";

requireNode();
process.chdir(root);
await ensureInstalled();
const esbuild = await import("esbuild");
const bundle = "dist/test-upgrade.mjs";
await esbuild.build(serverBundle(bundle, "tests/upgrade/main.ts"));
await import(join(root, bundle));
