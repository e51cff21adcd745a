// Writes app/routes.generated.ts: every route file under app/ with the path it serves. The self-hosted server and the
// OpenAPI document read it. A test fails when the file is out of date.
import { readdirSync, writeFileSync } from "node:fs";
import { fileURLToPath, pathToFileURL } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));

/** The text of app/routes.generated.ts for the current tree. */
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

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  writeFileSync(`${root}app/routes.generated.ts`, generateRoutes());
}
