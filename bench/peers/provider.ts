import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as wait } from "node:timers/promises";

/** The tokens of every call: what a gateway can estimate of the prompt, and what the answer says. */
export const tokens = { input: 1_000, output: 1_000 };

/** The model of every call, and its price in USD per million tokens. A call costs $0.00075. */
export const model = { name: "gpt-4o-mini", inputUsd: 0.15, outputUsd: 0.6 };

/** What a number of calls costs in USD. */
export const usdOf = (calls: number): number =>
  (calls * (tokens.input * model.inputUsd + tokens.output * model.outputUsd)) / 1e6;

/** The body of every call: the prompt has about as many tokens as the answer says. */
export const completion = {
  model: model.name,
  max_tokens: tokens.output,
  messages: [{ role: "user", content: "word ".repeat(tokens.input) }],
};

/** A mock of OpenAI's Chat Completions that counts the calls that it has answered. */
export type Provider = { url: string; answered(): number; close(): Promise<void> };

/** Starts the mock. It answers each call after 20 ms. */
export async function startProvider(): Promise<Provider> {
  let answered = 0;
  const server = createServer(async (request, response) => {
    // A caller that is killed breaks off.
    if ((await text(request).catch(() => undefined)) === undefined) return void response.end();
    await wait(20);
    response.setHeader("content-type", "application/json");
    if (!request.url?.endsWith("/chat/completions")) return void response.end('{"object":"list","data":[]}');
    answered += 1;
    const { input, output } = tokens;
    const usage = { prompt_tokens: input, completion_tokens: output, total_tokens: input + output };
    const message = { role: "assistant", content: "Hello." };
    const choices = [{ index: 0, finish_reason: "stop", message }];
    const id = `chatcmpl-${answered}`;
    response.end(
      JSON.stringify({ id, object: "chat.completion", created: 1, model: model.name, choices, usage }),
    );
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    answered: () => answered,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
