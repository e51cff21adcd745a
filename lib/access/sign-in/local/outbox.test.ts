import { expect, test } from "vitest";
import { announceOperatorToken } from "@/lib/access/operator";
import { parseEnv } from "@/lib/env";
import { outboxAccess } from "./outbox";

const project = { SUPABASE_URL: "https://x.supabase.co", SUPABASE_PUBLISHABLE_KEY: "k" };

test.each([
  [{}, "closed", "open"],
  [{ OUTLAY_OUTBOX: "off" }, "none", "none"],
  [{ OUTLAY_OUTBOX: "everyone" }, "open", "open"],
  [{ ...project, OUTLAY_OUTBOX: "everyone" }, "none", "none"],
])("With %j the outbox is %s, and %s to who has the token of the start", (settings, others, operator) => {
  announceOperatorToken("the token of this start");
  for (const given of [undefined, "", "a guess"])
    expect(outboxAccess(given, parseEnv(settings))).toBe(others);
  expect(outboxAccess("the token of this start", parseEnv(settings))).toBe(operator);
});
