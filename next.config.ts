import type { NextConfig } from "next";
import { commonHeaders } from "./lib/http/common-headers";

const config: NextConfig = {
  reactStrictMode: true,
  poweredByHeader: false,
  serverExternalPackages: ["pg", "pino", "prom-client"],
  // `npm run check` checks the types of every file, tests included; a build would do it again on every first start.
  typescript: { ignoreBuildErrors: true },
  // At its start Next would load every page and, a second time, every route, which our own server answers without it:
  // a second of processor time and 130 MB. A page is loaded when it is first asked for.
  // Where the service is away, the router keeps the page and opens the next one when it answers again.
  experimental: { preloadEntriesOnStart: false, useOffline: true },
  // Browsers that know of no icon yet, as between two pages, ask for this name: else it is looked up as a workspace.
  // The API reference is files that `scripts/build.mjs` writes.
  rewrites: async () => [
    { source: "/favicon.ico", destination: "/icon.svg" },
    { source: "/docs", destination: "/docs/index.html" },
    { source: "/docs/:page([a-z-]+)", destination: "/docs/:page.html" },
  ],
  // `proxy.ts` redirects, so that a redirect is for served hosts alone and has the headers of every other answer.
  skipTrailingSlashRedirect: true,
  // On what Next answers before `proxy.ts` is asked, too: a redirect of an address that is written differently.
  headers: async () => [
    {
      // Their names change with what is in them.
      source: "/docs/assets/:file*",
      headers: [{ key: "Cache-Control", value: "public, max-age=31536000, immutable" }],
    },
    {
      source: "/:path*",
      headers: Object.entries(commonHeaders).map(([key, value]) => ({ key, value })),
    },
  ],
};

export default config;
