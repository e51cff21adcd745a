import { ServiceError, type Verdict } from "@/lib/errors";
import { noteSent } from "@/lib/keys/sources/note-sent";
import type { Recorded } from "@/lib/ledger/ingest/call";
import { Account } from "./account";

/** The name of `@outlay/client` among the emitters. */
const emitter = "outlay-client";

/** Notes what became of the messages that the typed client told, for the page Sources. @param keyId undefined: nothing is noted */
export function noteClientCalls(keyId: string | undefined, verdicts: readonly Verdict<Recorded>[]): void {
  if (keyId === undefined || verdicts.length === 0) return;
  const account = new Account();
  const counts = { told: verdicts.length, recorded: 0, repeated: 0, refused: 0 };
  for (const verdict of verdicts) {
    const [outcome, by, count] =
      verdict instanceof ServiceError
        ? (["refused", verdict.code, "refused"] as const)
        : verdict.replayed
          ? (["replayed", "", "repeated"] as const)
          : (["recorded", "", "recorded"] as const);
    account.add(emitter, outcome, by);
    counts[count] += 1;
  }
  noteSent(keyId, {
    arrivals: [{ emitter, ...counts, latest: null }],
    refusals: [],
    account: account.list(),
  });
}
