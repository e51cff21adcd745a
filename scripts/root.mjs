import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The folder of the repository, with a slash at its end: the nearest one with a `package.json`, also from a bundle in `dist/`. */
export const root = findRoot(new URL(".", import.meta.url));

function findRoot(folder) {
  return existsSync(new URL("package.json", folder))
    ? fileURLToPath(folder)
    : findRoot(new URL("..", folder));
}
