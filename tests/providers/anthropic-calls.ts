import Anthropic from "@anthropic-ai/sdk";

export { Anthropic };

const question = {
  model: "claude-sonnet-4-6",
  max_tokens: 100,
  messages: [{ role: "user" as const, content: "Hello" }],
};
const ask = (user_id: string) => ({ ...question, metadata: { user_id } });

async function collect<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const parts: T[] = [];
  for await (const part of stream) parts.push(part);
  return parts;
}

/** Calls with what a caller sees of each. `user` makes the question of a test its own. */
export const calls: Record<string, (client: Anthropic, user: string) => Promise<unknown>> = {
  "a message": (client, user) => client.messages.create(ask(user)),
  "a message with its response": async (client, user) => {
    const { data, response, request_id } = await client.messages.create(ask(user)).withResponse();
    return [data, request_id, response.status, response.url, response instanceof Response];
  },
  "a message as a response": async (client, user) =>
    (await client.messages.create(ask(user)).asResponse()).text(),
  "a streamed message": async (client, user) =>
    collect(await client.messages.create({ ...ask(user), stream: true })),
  "the helper of streams": async (client, user) => {
    const texts: string[] = [];
    const stream = client.messages.stream(ask(user)).on("text", (text) => texts.push(text));
    return [await stream.finalMessage(), await stream.finalText(), texts];
  },
  "a beta message": (client, user) => client.beta.messages.create(ask(user)),
  "a streamed beta message": async (client, user) =>
    collect(await client.beta.messages.create({ ...ask(user), stream: true })),
};

/** A message in Anthropic's fast mode. */
export const inFastMode = (client: Anthropic, user: string) =>
  client.beta.messages.create({ ...ask(user), model: "claude-opus-5-5", speed: "fast" });

/** Starts a stream and stops reading after its first event. */
export async function stopEarly(client: Anthropic, user: string) {
  const stream = await client.messages.create({ ...ask(user), model: "endless", stream: true });
  for await (const _ of stream) break;
}

/** Calls a model that misbehaves, streamed or not. @returns the error that the caller gets */
export async function failingCall(client: Anthropic, user: string, model: string, stream: boolean) {
  try {
    const answer = await client.messages.create({ ...ask(user), model, stream });
    if (Symbol.asyncIterator in answer) await collect(answer);
    return undefined;
  } catch (error) {
    const { name, message, status } = error as Error & { status?: number };
    return { name, message, status };
  }
}
