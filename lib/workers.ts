/**
 * A message between the workers of one service. The process that supervises them passes it on (`server/relay.ts`). `broadcast`: a value
 * for all other workers. `question`: a question to all other workers. Each answers with `answer`, and the supervisor sends all answers as
 * `answers`.
 */
export type WorkerMessage = { topic: string } & (
  | { exchange: "broadcast"; value: unknown }
  | { exchange: "question"; id: number }
  | { exchange: "answer"; id: number; value: unknown }
  | { exchange: "answers"; id: number; values: unknown[] }
);

type Shared = {
  hasOthers: boolean;
  lastId: number;
  listeners: Map<string, ((value: unknown) => void)[]>;
  answerers: Map<string, () => unknown>;
  questions: Map<number, (values: unknown[]) => void>;
};

// The self-hosted server and Next's bundle in the same process each load this module; they must share one connection.
const globals = globalThis as { [key: symbol]: Shared | undefined };
const slot = Symbol.for("outlay.workers");
globals[slot] ??= {
  hasOthers: false,
  lastId: 0,
  listeners: new Map(),
  answerers: new Map(),
  questions: new Map(),
};
const shared: Shared = globals[slot];

/** Whether a message between processes is a `WorkerMessage`. */
export function isWorkerMessage(message: unknown): message is WorkerMessage {
  return typeof message === "object" && message !== null && "exchange" in message;
}

/** Connects this worker with the others. A process that does not call it is the only one. */
export function connectWorkers(): void {
  shared.hasOthers = true;
  process.on("message", (message) => {
    if (isWorkerMessage(message)) void receive(message);
  });
}

async function receive(message: WorkerMessage): Promise<void> {
  const { topic } = message;
  if (message.exchange === "broadcast") {
    for (const listener of shared.listeners.get(topic) ?? []) listener(message.value);
  } else if (message.exchange === "question") {
    send({ topic, exchange: "answer", id: message.id, value: await shared.answerers.get(topic)?.() });
  } else if (message.exchange === "answers") {
    shared.questions.get(message.id)?.(message.values);
    shared.questions.delete(message.id);
  }
}

/** Sends a value to all other workers, without waiting. @param value must be representable in JSON */
export function broadcast(topic: string, value: unknown): void {
  if (shared.hasOthers) send({ topic, exchange: "broadcast", value });
}

/** Calls `listener` with each value that another worker broadcasts on a topic. */
export function onBroadcast(topic: string, listener: (value: unknown) => void): void {
  shared.listeners.set(topic, [...(shared.listeners.get(topic) ?? []), listener]);
}

/** Asks all other workers. @returns the answers that arrive within a second */
export function askWorkers(topic: string): Promise<unknown[]> {
  if (!shared.hasOthers) return Promise.resolve([]);
  shared.lastId += 1;
  const id = shared.lastId;
  return new Promise((resolve) => {
    shared.questions.set(id, resolve);
    send({ topic, exchange: "question", id });
  });
}

/** Sets how this process answers questions of other workers. @param answer returns a value that is representable in JSON */
export function answerWorkers(topic: string, answer: () => unknown): void {
  shared.answerers.set(topic, answer);
}

function send(message: WorkerMessage): void {
  // Without a callback, a failure would end the process. Sending fails only after the supervisor has ended.
  process.send?.(message, undefined, undefined, () => {});
}
