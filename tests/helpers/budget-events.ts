import { randomUUID } from "node:crypto";
import fc from "fast-check";
import type pg from "pg";
import { rowOf } from "./budget-arbitraries";
import type { ModelPosting } from "./budget-model";
import type { Fixtures } from "./keys";

/** What happens to the ledger. `of` chooses one of the messages that are recorded. */
export type Event =
  | { kind: "record"; posting: ModelPosting }
  | { kind: "reprice"; of: number; cents: number }
  | { kind: "void"; of: number };

/** Random events. @param posting what is recorded */
export const eventOf = (posting: fc.Arbitrary<ModelPosting>): fc.Arbitrary<Event> =>
  fc.oneof(
    { weight: 4, arbitrary: fc.record({ kind: fc.constant("record" as const), posting }) },
    {
      weight: 3,
      arbitrary: fc.record({
        kind: fc.constant("reprice" as const),
        of: fc.nat(),
        cents: fc.integer({ min: 0, max: 6_000 }),
      }),
    },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant("void" as const), of: fc.nat() }) },
  );

/** A message that counts. */
export type Message = { id: string; posting: ModelPosting };

/** Where events happen. `service`: a connection as the service. */
export type Ledger = { fixtures: Fixtures; service: pg.Client; workspace: string };

/** Does what an event says, to the database and to the list of messages that count. */
export async function play(
  { fixtures, service, workspace }: Ledger,
  messages: Message[],
  happened: Event,
): Promise<void> {
  if (happened.kind === "record") {
    const message = { id: randomUUID(), posting: { ...happened.posting } };
    messages.push(message);
    await service.query("select private.store_messages('[]', $1, '[]')", [
      JSON.stringify([rowOf(workspace, message.id, message.posting)]),
    ]);
    return;
  }
  if (messages.length === 0) return;
  const index = happened.of % messages.length;
  const message = messages[index] as Message;
  if (happened.kind === "void") {
    messages.splice(index, 1);
    await fixtures.sql.query(
      "insert into public.message_voids (workspace_id, message_id, reason) values ($1, $2, 'wrong')",
      [workspace, message.id],
    );
    return;
  }
  message.posting.cents = happened.cents;
  await service.query("select private.apply_repricing($1, $2)", [
    workspace,
    JSON.stringify([
      {
        id: message.id,
        part: 0,
        occurred_at: message.posting.occurred_at,
        amount_usd: String(happened.cents / 100),
        cost_status: "priced",
      },
    ]),
  ]);
}
