import { z } from "zod";
import { inCents, unlessMissing, usd } from "@/lib/bills/pulls/provider";
import { ExactNumber } from "@/lib/contract/values/exact-number";
import { shiftDecimal, toText } from "@/lib/decimal";
import { type HeldLimit, type Limiter, type LimitPlace, noLimit, TargetGone } from "./limiter";

/** `…/spend_limit`: whole cents of a month. */
const spendLimit = z.object({ threshold_amount: inCents, currency: usd, interval: z.string() });
const project = z.object({ id: z.string(), name: z.string().nullish(), status: z.string().nullish() });
const projectPage = z.object({ data: z.array(project), has_more: z.boolean() });

const projectPath = (id: string) => `/v1/organization/projects/${encodeURIComponent(id)}`;
const limitPath = ({ kind, id }: Pick<LimitPlace, "kind" | "id">) =>
  `${kind === "project" ? projectPath(id) : "/v1/organization"}/spend_limit`;

const toHeld = (found: z.output<typeof spendLimit> | undefined): HeldLimit =>
  found ? { usd: found.threshold_amount, period: found.interval, stops: true } : noLimit;

/** OpenAI: hard spend limits of projects and of the organization, monthly, in whole cents. */
export const openai: Limiter = {
  list: async (ask) => {
    const projects: z.output<typeof project>[] = [];
    for (let after: string | undefined; ; after = projects.at(-1)?.id) {
      const query: [string, string][] = [["limit", "100"]];
      if (after !== undefined) query.push(["after", after]);
      const { data, has_more: hasMore } = await ask("/v1/organization/projects", query, projectPage);
      projects.push(...data);
      if (!hasMore || data.length === 0) break;
    }
    return [
      ...projects
        .filter(({ status }) => status !== "archived")
        .map(({ id, name }) => ({ kind: "project" as const, id, name: name || id, held: null })),
      { kind: "organization" as const, id: "organization", name: "The whole organization", held: null },
    ];
  },
  read: async (ask, place) => {
    let name = "The whole organization";
    if (place.kind === "project") {
      const found = await unlessMissing(ask(projectPath(place.id), [], project));
      if (!found) throw new TargetGone("OpenAI has no such project.");
      name = found.name || found.id;
      if (found.status === "archived") throw new TargetGone(`The project ${name} is archived at OpenAI.`);
    }
    return { ...toHeld(await unlessMissing(ask(limitPath(place), [], spendLimit))), name };
  },
  write: async (ask, place, amount) => {
    const body = {
      threshold_amount: new ExactNumber(toText(shiftDecimal(amount, 2))),
      currency: "USD",
      interval: "month",
    };
    await ask(limitPath(place), [], z.unknown(), {}, body);
  },
  remove: async (ask, place) => {
    await unlessMissing(ask(limitPath(place), [], z.unknown(), {}, undefined, "DELETE"));
  },
};
