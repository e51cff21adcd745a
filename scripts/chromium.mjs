// Finds a Chromium for the browser tests: the system's, otherwise Playwright's, otherwise Debian's package. A headless
// shell is preferred, because with it the tests need a quarter less of the processor time: Debian's is
// installed beside a whole Chromium where that is possible.
import { accessSync, constants, existsSync } from "node:fs";
import { basename, delimiter, join } from "node:path";
import { run } from "./prepare.mjs";
import { root } from "./root.mjs";

const downloadLimit = 180_000;
const shell = "chromium-headless-shell";

/** @returns the path of a Chromium, which is installed if there is none. @throws Error that says what to install */
export async function ensureChromium(note = (_text) => {}) {
  const found = chromiumOnPath();
  if (found) return basename(found) === shell ? found : ((await debians(note)) ?? found);
  return (await playwrights()) ?? (await download(note)) ?? (await debians(note)) ?? giveUp();
}

/** @returns the path of a Chromium that is installed on this machine, a headless shell if there is one */
export function chromiumOnPath() {
  const names = [shell, "chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
  const folders = (process.env.PATH ?? "").split(delimiter);
  for (const name of names) {
    for (const folder of folders) {
      const path = join(folder, name);
      try {
        accessSync(path, constants.X_OK);
        return path;
      } catch {
        // Not available here.
      }
    }
  }
  return undefined;
}

async function playwrights() {
  const { chromium } = await import("@playwright/test");
  const path = chromium.executablePath();
  return existsSync(path) ? path : undefined;
}

async function download(note) {
  note("downloading Playwright's …");
  const cli = join(root, "node_modules/@playwright/test/cli.js");
  try {
    await run([process.execPath, cli, "install", "chromium"], { timeout: downloadLimit });
  } catch {
    return undefined;
  }
  return playwrights();
}

async function debians(note) {
  if (process.getuid?.() !== 0 || !existsSync("/etc/debian_version")) return undefined;
  note("installing Debian's …");
  const aptGet = (...args) =>
    run(["apt-get", "-o", "Acquire::Retries=0", "-o", "Acquire::http::Timeout=10", ...args], {
      env: { DEBIAN_FRONTEND: "noninteractive" },
      timeout: downloadLimit,
    });
  try {
    await aptGet("update");
    await aptGet("install", "-y", "--no-install-recommends", shell, "fonts-liberation");
  } catch {
    return undefined;
  }
  return chromiumOnPath();
}

function giveUp() {
  throw new Error(
    "The browser tests need a Chromium: install one as `chromium` or `google-chrome`, and try again.",
  );
}
