/**
 * A message between the workers of one service. The process that supervises them passes it on (`server/relay.ts`). `tell`: a value for all
 * siblings. `ask`: a question to all siblings. Each answers with `answer`, and the supervisor sends all answers as `answers`.
 */
export type SiblingMessage = { topic: string } & (
  | { sibling: "tell"; value: unknown }
  | { sibling: "ask"; id: number }
  | { sibling: "answer"; id: number; value: unknown }
  | { sibling: "answers"; id: number; values: unknown[] }
);

type Shared = {
  hasSiblings: boolean;
  lastId: number;
  listeners: Map<string, ((value: unknown) => void)[]>;
  answerers: Map<string, () => unknown>;
  questions: Map<number, (values: unknown[]) => void>;
};

// The self-hosted server and Next's bundle in the same process each load this module; they must share one connection.
const globals = globalThis as { [key: symbol]: Shared | undefined };
const slot = Symbol.for("outlay.siblings");
globals[slot] ??= {
  hasSiblings: false,
  lastId: 0,
  listeners: new Map(),
  answerers: new Map(),
  questions: new Map(),
};
const shared: Shared = globals[slot];

/** Whether a message between processes is a `SiblingMessage`. */
export function isSiblingMessage(message: unknown): message is SiblingMessage {
  return typeof message === "object" && message !== null && "sibling" in message;
}

/** Connects this worker with its siblings. A process that does not call it has no siblings. */
export function joinSiblings(): void {
  shared.hasSiblings = true;
  process.on("message", (message) => {
    if (isSiblingMessage(message)) void receive(message);
  });
}

async function receive(message: SiblingMessage): Promise<void> {
  const { topic } = message;
  if (message.sibling === "tell") {
    for (const hear of shared.listeners.get(topic) ?? []) hear(message.value);
  } else if (message.sibling === "ask") {
    send({ topic, sibling: "answer", id: message.id, value: await shared.answerers.get(topic)?.() });
  } else if (message.sibling === "answers") {
    shared.questions.get(message.id)?.(message.values);
    shared.questions.delete(message.id);
  }
}

/** Sends a value to all siblings, without waiting. @param value must be representable in JSON */
export function tellSiblings(topic: string, value: unknown): void {
  if (shared.hasSiblings) send({ topic, sibling: "tell", value });
}

/** Calls `hear` with each value that a sibling sends. */
export function hearSiblings(topic: string, hear: (value: unknown) => void): void {
  shared.listeners.set(topic, [...(shared.listeners.get(topic) ?? []), hear]);
}

/** Asks all siblings. @returns the answers that arrive within a second */
export function askSiblings(topic: string): Promise<unknown[]> {
  if (!shared.hasSiblings) return Promise.resolve([]);
  shared.lastId += 1;
  const id = shared.lastId;
  return new Promise((resolve) => {
    shared.questions.set(id, resolve);
    send({ topic, sibling: "ask", id });
  });
}

/** Sets how this process answers its siblings. @param answer returns a value that is representable in JSON */
export function answerSiblings(topic: string, answer: () => unknown): void {
  shared.answerers.set(topic, answer);
}

function send(message: SiblingMessage): void {
  // Without a callback, a failure would end the process. Sending fails only after the supervisor has ended.
  process.send?.(message, undefined, undefined, () => {});
}
