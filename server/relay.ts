import cluster, { type Worker } from "node:cluster";
import { setTimeout as wait } from "node:timers/promises";
import { isSiblingMessage, type SiblingMessage } from "@/lib/siblings";

/** How long the supervisor waits for the answers to a question. */
const answerLimitMs = 1_000;

/** A question to the siblings of a worker. `missing`: the number of missing answers. `values`: the answers so far. */
type Question = { missing: number; values: unknown[]; complete: () => void };

/**
 * Passes on messages between workers, in the process that supervises them: a value or a question to all siblings of its sender, and the
 * collected answers to the worker that asked (see `lib/siblings.ts`).
 * @param siblingsOf the workers that serve, except this one
 */
export function relayMessages(siblingsOf: (worker: Worker) => Worker[]): void {
  const questions = new Map<number, Question>();
  let lastId = 0;

  const ask = async (asker: Worker, topic: string, askersId: number) => {
    const siblings = siblingsOf(asker);
    lastId += 1;
    const id = lastId;
    const values: unknown[] = [];
    const complete = new Promise<void>((resolve) => {
      questions.set(id, { missing: siblings.length, values, complete: resolve });
    });
    for (const sibling of siblings) send(sibling, { topic, sibling: "ask", id });
    if (siblings.length > 0) await Promise.race([complete, wait(answerLimitMs, undefined, { ref: false })]);
    questions.delete(id);
    send(asker, { topic, sibling: "answers", id: askersId, values });
  };

  cluster.on("message", (worker, message: unknown) => {
    if (!isSiblingMessage(message)) return;
    if (message.sibling === "tell") {
      for (const sibling of siblingsOf(worker)) send(sibling, message);
    } else if (message.sibling === "ask") {
      void ask(worker, message.topic, message.id);
    } else if (message.sibling === "answer") {
      const question = questions.get(message.id);
      if (!question) return;
      question.values.push(message.value);
      question.missing -= 1;
      if (question.missing === 0) question.complete();
    }
  });
}

function send(worker: Worker, message: SiblingMessage): void {
  // A worker may end at any time; a message to one that has ended is lost.
  if (worker.isConnected()) worker.send(message, undefined, () => {});
}
