import type { NextConfig } from "next";
import { env } from "./lib/env";
import { mcpPath, ownMcpHost } from "./lib/mcp/addresses";

const config: NextConfig = {
  reactStrictMode: true,
  poweredByHeader: false,
  serverExternalPackages: ["pg", "pino"],
  // For platforms where Next stands alone: our own server does the same before it (`servedPath`), and at run time.
  rewrites: async () => {
    const own = ownMcpHost(env());
    if (!own) return [];
    const beforeFiles = [...new Set(["/", own.path])].map((source) => ({
      source,
      has: [{ type: "host" as const, value: own.hostname.replaceAll(".", "\\.") }],
      destination: mcpPath,
    }));
    return { beforeFiles, afterFiles: [], fallback: [] };
  },
};

export default config;
