import { localToolSettings } from "@/lib/env";
import { readAccess, SettingsError, serveTools } from "@/lib/mcp/stdio";

const say = (line: string) => void process.stderr.write(`outlay-mcp: ${line}\n`);

/** The local agent tools: serves one client on standard input and output. SVC_BASE_URL and SVC_API_KEY configure it. */
try {
  serveTools(readAccess(localToolSettings()), say);
} catch (error) {
  if (!(error instanceof SettingsError)) throw error;
  say(error.message);
  process.exitCode = 1;
}
