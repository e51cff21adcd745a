import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { installOwnPackages } from "@/tests/helpers/own-packages";
import { projectRoot } from "@/tests/helpers/project-root";

const folder = join(projectRoot, "tests/supabase/identity-provider");

/** Starts an OpenID Connect server that people can sign in with (`oidc-provider`), in a process of its own. @returns its address and the secret of its client */
export async function startIdentityProvider(): Promise<{
  url: string;
  secret: string;
  stop(): Promise<void>;
}> {
  await installOwnPackages(folder);
  const secret = randomBytes(24).toString("hex");
  const child = spawn(process.execPath, [join(folder, "server.mjs")], {
    env: { ...process.env, CLIENT_SECRET: secret },
    stdio: ["ignore", "pipe", "inherit"],
  });
  process.once("exit", () => child.kill("SIGKILL"));
  for await (const line of createInterface({ input: child.stdout })) {
    const [, url] = /^ready (.+)$/.exec(line) ?? [];
    if (!url) continue;
    child.stdout.resume();
    return {
      url,
      secret,
      stop: async () => {
        const ended = once(child, "exit");
        child.kill("SIGTERM");
        await ended;
      },
    };
  }
  throw new Error("The identity provider ended before it was ready.");
}
