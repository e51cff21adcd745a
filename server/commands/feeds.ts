import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { env } from "@/lib/env";
import { fetchPublished } from "@/lib/ledger/published/feeds";
import { acceptHeld, type FeedStates, readFeeds } from "@/lib/ledger/published/review";
import { attachDatabase } from "@/server/attach";

const help = `npm run feeds -- [--fetch] [--accept ITEM]… [--json]

Lists how the service fetches exchange rates and prices of models (RATES_URL, PRICES_URL): the last attempt, the latest day of
each source, and the rates and prices held for review because they differ by more than 20 % from the known ones. They are not
used until they are accepted.

  --fetch        fetches now
  --accept ITEM  accepts what is held for a currency (ARS) or a model (openai/gpt-4o); every process uses it within seconds
  --json         writes one JSON document instead of text

Exits with 0, with 1 if nothing is held for an item, with 2 if it could not run.
`;

/** The folder of the repository: this file's bundle is in `dist/`. */
const root = fileURLToPath(new URL("..", import.meta.url));

/** Runs the command. @returns its exit status */
export async function main(args: string[]): Promise<number> {
  const { values } = parseArgs({
    args,
    options: {
      fetch: { type: "boolean", default: false },
      accept: { type: "string", multiple: true, default: [] },
      json: { type: "boolean", default: false },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  if (values.help) {
    process.stdout.write(help);
    return 0;
  }
  const close = await attachDatabase(env(), root);
  try {
    if (values.fetch) await fetchPublished({ isForced: true });
    const unknown: string[] = [];
    for (const item of values.accept) if ((await acceptHeld(item)) === 0) unknown.push(item);
    const states = await readFeeds();
    process.stdout.write(values.json ? `${JSON.stringify(states, null, 2)}\n` : describeStates(states));
    for (const item of unknown) process.stderr.write(`Nothing is held for ${item}.\n`);
    return unknown.length > 0 ? 1 : 0;
  } finally {
    await close();
  }
}

function describeStates({ feeds, latest, held }: FeedStates): string {
  const lines = feeds.map(({ kind, tried_at, failure, failed_since }) =>
    failure
      ? `${kind}: last tried ${tried_at.toISOString()}, failing since ${failed_since?.toISOString()}: ${failure}`
      : `${kind}: fetched ${tried_at.toISOString()}`,
  );
  if (feeds.length === 0) lines.push("Nothing was fetched yet; the rates and prices of the build are used.");
  lines.push(...latest.map(({ kind, source, day }) => `${kind} of ${source}: up to ${day}`));
  lines.push(
    ...held.map(({ item, days, value }) => {
      const shown =
        typeof value === "string" ? `${value} USD` : JSON.stringify((value as { prices: unknown }).prices);
      return `held: ${item}, ${days[0]}${days.length > 1 ? ` and ${days.length - 1} more days` : ""}: ${shown}; --accept ${item}`;
    }),
  );
  return `${lines.join("\n")}\n`;
}
