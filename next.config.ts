import type { NextConfig } from "next";

const config: NextConfig = {
  reactStrictMode: true,
  poweredByHeader: false,
  serverExternalPackages: ["pg", "pino"],
  // At its start Next would load every page and, a second time, every route, which our own server answers without it:
  // a second of processor time and 130 MB. A page is loaded when it is first asked for.
  experimental: { preloadEntriesOnStart: false },
  // Browsers that know of no icon yet, as between two pages, ask for this name: else it is looked up as a workspace.
  rewrites: async () => [{ source: "/favicon.ico", destination: "/icon.svg" }],
  headers: async () => [
    {
      // Nobody lays a page of their own over ours, to have somebody press Allow without knowing it.
      source: "/:path*",
      headers: [
        {
          key: "Content-Security-Policy",
          value: "frame-ancestors 'none'; base-uri 'none'; object-src 'none'",
        },
        { key: "X-Frame-Options", value: "DENY" },
        { key: "X-Content-Type-Options", value: "nosniff" },
      ],
    },
    {
      // What a program asks for stands in the address. Other sites are not told it.
      source: "/oauth/:path*",
      headers: [{ key: "Referrer-Policy", value: "same-origin" }],
    },
  ],
};

export default config;
