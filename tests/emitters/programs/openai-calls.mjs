/* Calls of OpenAI's and Anthropic's SDKs under an instrumentation, which is `INSTRUMENTATION`. */
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);
const mock = process.env.PROVIDERS;
const { shutdown, wrap = (client) => client } = await (
  await import(`./${process.env.INSTRUMENTATION}.mjs`)
).instrument();

const OpenAI = require("openai");
const openai = wrap(new OpenAI({ apiKey: "none", baseURL: `${mock}/v1` }));
const messages = [{ role: "user", content: "Say hello." }];
const drain = async (stream) => {
  for await (const _ of stream);
};

await openai.chat.completions.create({ model: "gpt-4o-mini", messages });
const streamed = { model: "gpt-4o-mini", messages, stream: true, stream_options: { include_usage: true } };
await drain(await openai.chat.completions.create(streamed));
const broken = [{ role: "user", content: "Break off." }];
await drain(await openai.chat.completions.create({ ...streamed, messages: broken })).catch(() => {});
if (!process.env.WITHOUT_RESPONSES) {
  await openai.responses.create({ model: "gpt-4o-mini", input: "Say hello." });
  await drain(await openai.responses.create({ model: "gpt-4o-mini", input: "Say hello.", stream: true }));
}
if (!process.env.WITHOUT_ANTHROPIC) {
  const Anthropic = require(process.env.ANTHROPIC_SDK ?? "@anthropic-ai/sdk");
  const anthropic = new Anthropic({ apiKey: "none", baseURL: mock });
  const call = { model: "claude-sonnet-4-5", max_tokens: 100, messages };
  await anthropic.messages.create(call);
  await drain(await anthropic.messages.create({ ...call, stream: true }));
  await anthropic.messages.stream(call).finalMessage();
  await anthropic.messages
    .stream({ ...call, messages: broken })
    .finalMessage()
    .catch(() => {});
}
await shutdown();
