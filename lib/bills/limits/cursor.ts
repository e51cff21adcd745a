import { z } from "zod";
import { type Dollars, dollars } from "@/lib/bills/money";
import { type Ask, inDollars, ProviderRefusal } from "@/lib/bills/pulls/provider";
import { ExactNumber } from "@/lib/contract/values/exact-number";
import { isZero, toText } from "@/lib/decimal";
import { type Limiter, noLimit, TargetGone } from "./limiter";

const members = z.object({
  teamMembers: z.array(
    z.object({ email: z.string(), name: z.string().nullish(), isRemoved: z.boolean().optional() }),
  ),
});

/** `/teams/spend`: whole dollars; 0 is no limit of the member's own. */
const spend = z.object({
  teamMemberSpend: z.array(z.object({ email: z.string(), hardLimitOverrideDollars: inDollars.nullish() })),
  totalPages: z.unknown(),
});

/** It answers 200 for refusals, too. */
const outcome = z.object({ outcome: z.string(), message: z.string().nullish() });

const listMembers = async (ask: Ask) =>
  (await ask("/teams/members", [], members)).teamMembers.filter(({ isRemoved }) => !isRemoved);
const isSame = (a: string, b: string) => a.toLowerCase() === b.toLowerCase();

async function setLimit(ask: Ask, email: string, amount: Dollars | null): Promise<void> {
  const body = { userEmail: email, spendLimitDollars: amount && new ExactNumber(toText(amount)) };
  const answer = await ask("/teams/user-spend-limit", [], outcome, {}, body);
  if (answer.outcome !== "success")
    throw new ProviderRefusal(400, `It answers: ${answer.message ?? answer.outcome}`);
}

/** Cursor: limits of a team's members for its billing cycle, in whole dollars. */
export const cursor: Limiter = {
  list: async (ask) =>
    (await listMembers(ask)).map(({ email }) => ({ kind: "member", id: email, name: email, held: null })),
  read: async (ask, { id }) => {
    const member = (await listMembers(ask)).find(({ email }) => isSame(email, id));
    if (!member) throw new TargetGone(`${id} is no member of the team at Cursor.`);
    const { teamMemberSpend: found } = await ask(
      "/teams/spend",
      [],
      spend,
      {},
      { searchTerm: id, pageSize: 100 },
    );
    const limit = found.find(({ email }) => isSame(email, id))?.hardLimitOverrideDollars ?? dollars("0");
    return {
      ...(isZero(limit) ? noLimit : { usd: limit, period: "month", stops: true }),
      name: member.email,
    };
  },
  write: (ask, { id }, amount) => setLimit(ask, id, amount),
  remove: (ask, { id }) => setLimit(ask, id, null),
};
