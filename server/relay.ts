import cluster, { type Worker } from "node:cluster";
import { setTimeout as wait } from "node:timers/promises";
import { isWorkerMessage, type WorkerMessage } from "@/lib/workers";

/** How long the supervisor waits for the answers to a question. */
const answerLimitMs = 1_000;

/** A question to the other workers. `missing`: the number of missing answers. `values`: the answers so far. */
type Question = { missing: number; values: unknown[]; complete: () => void };

/**
 * Passes on messages between workers, in the process that supervises them: a value or a question to all workers but its sender, and the
 * collected answers to the worker that asked (see `lib/workers.ts`).
 * @param siblingsOf the workers that serve, except this one
 */
export function relayMessages(othersOf: (worker: Worker) => Worker[]): void {
  const questions = new Map<number, Question>();
  let lastId = 0;

  const ask = async (asker: Worker, topic: string, askersId: number) => {
    const others = othersOf(asker);
    lastId += 1;
    const id = lastId;
    const values: unknown[] = [];
    const complete = new Promise<void>((resolve) => {
      questions.set(id, { missing: others.length, values, complete: resolve });
    });
    for (const other of others) send(other, { topic, exchange: "question", id });
    if (others.length > 0) await Promise.race([complete, wait(answerLimitMs, undefined, { ref: false })]);
    questions.delete(id);
    send(asker, { topic, exchange: "answers", id: askersId, values });
  };

  cluster.on("message", (worker, message: unknown) => {
    if (!isWorkerMessage(message)) return;
    if (message.exchange === "broadcast") {
      for (const other of othersOf(worker)) send(other, message);
    } else if (message.exchange === "question") {
      void ask(worker, message.topic, message.id);
    } else if (message.exchange === "answer") {
      const question = questions.get(message.id);
      if (!question) return;
      question.values.push(message.value);
      question.missing -= 1;
      if (question.missing === 0) question.complete();
    }
  });
}

function send(worker: Worker, message: WorkerMessage): void {
  // A worker may end at any time; a message to one that has ended is lost.
  if (worker.isConnected()) worker.send(message, undefined, () => {});
}
