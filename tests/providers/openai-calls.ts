import OpenAI, { AzureOpenAI } from "openai";
import OpenAI5 from "openai-5";
import OpenAI6 from "openai-6";

/** The SDK's versions. The calls are written in the types of the newest. */
export const versions = { 5: OpenAI5, 6: OpenAI6, 7: OpenAI } as unknown as Record<string, typeof OpenAI>;
export { AzureOpenAI };

const chat = { model: "gpt-4o", messages: [{ role: "user" as const, content: "Hello" }] };
const response = { model: "gpt-4o", input: "Hello" };

async function collect<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const parts: T[] = [];
  for await (const part of stream) parts.push(part);
  return parts;
}

/** Calls with what a caller sees of each. `user` makes the question of a test its own. */
export const calls: Record<string, (client: OpenAI, user: string) => Promise<unknown>> = {
  "a chat completion": (client, user) => client.chat.completions.create({ ...chat, user }),
  "a chat completion with its response": async (client, user) => {
    const { data, response, request_id } = await client.chat.completions
      .create({ ...chat, user })
      .withResponse();
    const { status, statusText, url, type, redirected, ok } = response;
    return [
      data,
      request_id,
      { status, statusText, url, type, redirected, ok },
      response instanceof Response,
    ];
  },
  "a chat completion as a response": async (client, user) => {
    const answer = await client.chat.completions.create({ ...chat, user }).asResponse();
    const copy = answer.clone();
    return [await answer.json(), await copy.text(), [...answer.headers].filter(([name]) => name !== "date")];
  },
  "a streamed chat completion": async (client, user) =>
    collect(await client.chat.completions.create({ ...chat, user, stream: true })),
  "a streamed chat completion with usage": async (client, user) =>
    collect(
      await client.chat.completions.create({
        ...chat,
        user,
        stream: true,
        stream_options: { include_usage: true },
      }),
    ),
  "a streamed chat completion without usage": async (client, user) =>
    collect(
      await client.chat.completions.create({
        ...chat,
        user,
        stream: true,
        stream_options: { include_usage: false },
      }),
    ),
  "a streamed chat completion, read twice": async (client, user) => {
    const [left, right] = (await client.chat.completions.create({ ...chat, user, stream: true })).tee();
    return [await collect(left), await collect(right)];
  },
  "the helper of chat streams": async (client, user) => {
    const events: string[] = [];
    const stream = client.chat.completions
      .stream({ ...chat, user })
      .on("content", (delta) => events.push(delta));
    return [await stream.finalChatCompletion(), await stream.finalContent(), events];
  },
  "a response": (client, user) => client.responses.create({ ...response, user }),
  "a streamed response": async (client, user) =>
    collect(await client.responses.create({ ...response, user, stream: true })),
  "the helper of response streams": async (client, user) =>
    client.responses.stream({ ...response, user }).finalResponse(),
};

export const embed = (client: OpenAI, user: string) =>
  client.embeddings.create({ model: "text-embedding-3-small", input: ["a", "b"], user });

/** A response in a service tier, with tools that OpenAI runs. */
export const withTools = (client: OpenAI, user: string, service_tier: "flex" | "priority") =>
  client.responses.create({
    ...response,
    model: "gpt-5",
    user,
    service_tier,
    tools: [{ type: "web_search" }],
  });

export const createInBackground = (client: OpenAI, user: string) =>
  client.responses.create({ ...response, user, background: true });
export const retrieve = (client: OpenAI, id: string) => client.responses.retrieve(id);

/** A response that is made in the background and asked for until it is there. */
export async function inBackground(client: OpenAI, user: string) {
  const { id } = await createInBackground(client, user);
  for (let poll = 0; poll < 3; poll += 1) await retrieve(client, id);
}

/** Starts a stream and stops reading after its first chunk. */
export async function stopEarly(client: OpenAI, user: string) {
  const stream = await client.chat.completions.create({ ...chat, user, model: "endless", stream: true });
  for await (const _ of stream) break;
}

/** Calls a model that misbehaves, streamed or not. @returns the error that the caller gets */
export async function failingCall(client: OpenAI, user: string, model: string, stream: boolean) {
  try {
    const answer = await client.chat.completions.create({ ...chat, user, model, stream });
    if (Symbol.asyncIterator in answer) await collect(answer);
    return undefined;
  } catch (error) {
    const { name, message, status } = error as Error & { status?: number };
    return { name, message, status };
  }
}

/** A call whose caller gives up before the answer. */
export async function abortedCall(client: OpenAI, user: string) {
  const controller = new AbortController();
  const stream = await client.chat.completions.create(
    { ...chat, user, model: "endless", stream: true },
    { signal: controller.signal },
  );
  const chunks: unknown[] = [];
  for await (const chunk of stream) {
    chunks.push(chunk);
    controller.abort();
  }
  return chunks.length > 0;
}

/** A call whose caller cancels the body of its response. */
export async function cancelledBody(client: OpenAI, user: string) {
  const answer = await client.chat.completions
    .create({ ...chat, user, model: "endless", stream: true })
    .asResponse();
  const reader = answer.body?.getReader();
  await reader?.read();
  await reader?.cancel();
}
