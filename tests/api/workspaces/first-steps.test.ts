import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { withHarness } from "@/tests/helpers/harness";
import { projectRoot } from "@/tests/helpers/project-root";
import { type Script, startScript } from "@/tests/helpers/script";
import { requirePages } from "@/tests/helpers/service";

describe("A start with one's own database", () => {
  const harness = withHarness({ services: 0 });

  beforeAll(requirePages);

  let service: Script | undefined;

  afterEach(async () => {
    service?.child.kill("SIGTERM");
    await service?.ended;
  });

  /** Starts the service. @returns where it listens, and everything it printed up to the end of the first steps */
  async function start(settings: Record<string, string>): Promise<{ listening: string; printed: string }> {
    service = startScript(join(projectRoot, "dist/server.mjs"), [], {
      NODE_ENV: "production",
      PORT: "0",
      POSTGRES_URL: harness.database.url,
      POSTGRES_URL_NON_POOLING: harness.database.adminUrl,
      ...settings,
    });
    let printed = "";
    service.child.stdout?.on("data", (chunk) => {
      printed += chunk;
    });
    const listening = await service.line((line) => /ready\s+(http:\S+)/.exec(line)?.[1]);
    await service.line((line) => line.includes("Reference:") || undefined);
    return { listening, printed };
  }

  test("Prints the sign-up page and commands that work with a key in OUTLAY_KEY", async () => {
    const { secret } = await harness.fixtures.key(await harness.fixtures.workspace());
    const { listening, printed } = await start({});
    expect((await fetch(`${listening}/sign-up`)).status).toBe(200);
    expect(printed).toContain(`${listening}/sign-up`);
    expect(printed).toContain(`${listening}/outbox/open?token=`);
    const commands = printed.split("\n").filter((line) => line.trim().startsWith("curl"));
    const answers = [];
    for (const command of commands) {
      const environment = { ...process.env, OUTLAY_KEY: secret };
      const { stdout } = await promisify(execFile)("sh", ["-c", command], { env: environment });
      answers.push(JSON.parse(stdout));
    }
    expect(answers).toMatchObject([{ amount_usd: 0.003 }, { total_usd: 0.003, message_count: 1 }]);
  });

  test("Prints addresses by BASE_URL", async () => {
    const { printed } = await start({ BASE_URL: "https://outlay.example.com/" });
    const after = printed.slice(printed.indexOf("Sign up:"));
    const addresses = after.match(/https?:\/\/[^\s,]+/g);
    expect(addresses?.map((address) => address.replace(/(?<=token=)[\w-]{32}$/, "…"))).toEqual([
      "https://outlay.example.com/sign-up",
      "https://outlay.example.com/sign-in",
      "https://outlay.example.com/outbox/open?token=…",
      "https://outlay.example.com/api/v1/messages",
      "https://outlay.example.com/api/v1/summary/month",
      "https://outlay.example.com/docs",
    ]);
  });

  test("Names preview pictures by BASE_URL and serves them", async () => {
    const { listening } = await start({ BASE_URL: "https://outlay.example.com" });
    const page = await (await fetch(`${listening}/sign-in`)).text();
    const named = [
      ...page.matchAll(/<meta property="og:image" content="([^"]+)"/g),
      ...page.matchAll(/<link rel="(?:icon|apple-touch-icon)" href="([^"]+)"/g),
    ].map(([, address = ""]) => new URL(address, "https://outlay.example.com").href);
    expect(named.sort()).toEqual([
      "https://outlay.example.com/apple-touch-icon.png",
      "https://outlay.example.com/icon.svg",
      "https://outlay.example.com/opengraph.png",
    ]);
    for (const address of [...named, "https://outlay.example.com/robots.txt"]) {
      expect((await fetch(listening + new URL(address).pathname)).status, address).toBe(200);
    }
  });

  test("Prints no outbox with a Supabase project, which sends the mail", async () => {
    const project = {
      SUPABASE_URL: "http://127.0.0.1:9",
      NEXT_PUBLIC_SUPABASE_PUBLISHABLE_KEY: "sb_publishable_1",
    };
    const { listening, printed } = await start(project);
    expect(printed).toContain(`${listening}/sign-up`);
    expect(printed).not.toContain("/outbox");
  });
});
