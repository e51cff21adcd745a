// Writes app/routes.generated.ts: every route file under app/ with the path that it serves. The self-hosted server and the
// OpenAPI document read it, so that a route needs no registration. A test fails if the file is out of date.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { writeWhole } from "./build-record.mjs";
import { root } from "./root.mjs";

/** The text of app/routes.generated.ts for the present files. */
export function generateRoutes() {
  const files = readdirSync(`${root}app`, { recursive: true, encoding: "utf8" })
    .map((file) => file.replaceAll("\\", "/"))
    .filter((file) => /(^|\/)route\.tsx?$/.test(file))
    .sort();
  const lines = files.map((file) => {
    const folder = file.replace(/\/?route\.tsx?$/, "");
    const path = `/${folder}`.replace(/\/\([^)]+\)/g, "");
    return `  { path: ${JSON.stringify(path)}, load: () => import(${JSON.stringify(`@/app/${folder}/route`)}) },`;
  });
  return [
    "// Made by scripts/generate-routes.mjs from the route files; not to be edited.",
    'import type { RouteEntry } from "@/lib/http/route-table";',
    "",
    "export const routes: RouteEntry[] = [",
    ...lines,
    "];",
    "",
  ].join("\n");
}

/** Writes app/routes.generated.ts if it is out of date. */
export function writeRoutes() {
  const file = join(root, "app/routes.generated.ts");
  const routes = generateRoutes();
  if (!existsSync(file) || readFileSync(file, "utf8") !== routes) writeWhole(file, routes);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) writeRoutes();
