import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The folder of the repository, with a trailing slash: the nearest parent with a `package.json`, which works in `dist/` too. */
export const root = findRoot(new URL(".", import.meta.url));

function findRoot(folder) {
  return existsSync(new URL("package.json", folder))
    ? fileURLToPath(folder)
    : findRoot(new URL("..", folder));
}
