/*
 * Runs Claude Code, as published, with `outlay hook` in its settings against a mock of the provider and a service of its own: a prompt
 * is refused before the provider is called where the key's limit is used up, and answered where it is not. Not part of `npm test`.
 *
 *   node tests/emitters/claude-code-hook.mjs [CLAUDE]
 *
 * CLAUDE is the program; by default that of `npm run test:emitters -- --install`.
 */
import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { claudeCodeSettings, claudeCommand } from "./claude-code.mjs";
import { startProviders } from "./stage/providers.mjs";
import { root } from "./stage/root.mjs";
import { startService } from "./stage/service.mjs";
import { startProgram } from "./stage/tools.mjs";

const claude = process.argv[2] ?? claudeCommand;
if (!existsSync(claude)) {
  console.log(`skipped: needs ${claude}: npm run test:emitters -- --install, or name another`);
  process.exit(0);
}

const providers = await startProviders({ refuses: false });
const service = await startService();
const hook = {
  hooks: [
    {
      type: "command",
      command: `"${process.execPath}" "${join(root, "packages/client/bin/outlay.mjs")}" hook`,
    },
  ],
};

/** Runs one prompt with a key. @returns the output, and how many calls the provider answered */
async function ask(source) {
  const folder = mkdtempSync(join(tmpdir(), "outlay-hook-"));
  mkdirSync(join(folder, ".claude"));
  const hooks = { UserPromptSubmit: [hook], PreToolUse: [{ matcher: "*", ...hook }] };
  writeFileSync(join(folder, ".claude/settings.json"), JSON.stringify({ hooks }));
  const before = providers.answered.length;
  const program = startProgram([claude, "-p", "Say hello.", "--output-format", "json"], {
    cwd: folder,
    env: {
      ...claudeCodeSettings({ providers: providers.url, source, folder, protocol: "http/json" }),
      OUTLAY_URL: source.url,
      OUTLAY_KEY: source.key,
    },
  });
  const timer = setTimeout(() => program.process.kill("SIGKILL"), 120_000);
  const { status, output } = await program.ended;
  clearTimeout(timer);
  rmSync(folder, { recursive: true, force: true });
  return { status, output, calls: providers.answered.length - before };
}

try {
  const free = await ask(await service.openWorkspace());
  assert.ok(free.calls > 0, free.output);
  console.log(`a key without a limit: ended with ${free.status}, ${free.calls} calls of the provider`);
  const refused = await ask(await service.openWorkspace({ monthly_limit: 0 }));
  assert.equal(refused.calls, 0, refused.output);
  assert.match(refused.output, /this API key's monthly limit is used up.*Ask for more: http/s);
  console.log(`a limit of $0: ended with ${refused.status}, no call of the provider:\n${refused.output}`);
} finally {
  await service.stop();
  await providers.close();
}
