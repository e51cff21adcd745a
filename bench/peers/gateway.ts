import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { type Outcome, type Peer, send, untilAnswering } from "./peer";
import { completion } from "./provider";

/** A gateway that is started as a program. `health`: the path that answers when it is ready; `model`: its name there. */
type Gateway = {
  program: string[];
  environment: Record<string, string>;
  address: string;
  health: string;
  model: string;
};

/** Starts a gateway. @param key of its callers, known when it is ready */
export async function startGateway(
  { program: [program = "", ...args], environment, address, health, model }: Gateway,
  key: () => string,
): Promise<Omit<Peer, "read">> {
  let child: ChildProcess;
  let output = "";
  const start = async () => {
    child = spawn(program, args, {
      env: { NODE_ENV: "production", ...environment },
      stdio: ["ignore", "pipe", "pipe"],
    });
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on("data", (chunk) => {
        output = (output + chunk).slice(-20_000);
      });
    }
    await untilAnswering(address + health, () => output);
  };
  const end = async (signal: NodeJS.Signals) => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill(signal);
    await once(child, "exit");
  };
  let running = start();
  await running;
  return {
    call: async (): Promise<Outcome> => {
      await running;
      const answer = await send(`${address}/v1/chat/completions`, key(), { ...completion, model }).catch(
        () => undefined,
      );
      if (!answer || answer.status >= 500) return "failed";
      if (answer.status === 200) return "answered";
      if ([402, 403, 429].includes(answer.status)) return "refused";
      throw new Error(`A call was answered ${answer.status}: ${JSON.stringify(answer.body)}`);
    },
    pids: () => [child.pid ?? 0],
    kill: async () => {
      await end("SIGKILL");
      running = start();
      await running;
    },
    stop: () => end("SIGKILL"),
  };
}
