import { withPages } from "@/tests/helpers/service";
import type { Call } from "./load";
import type { Part } from "./part";
import { atMost, type Figure, type Round } from "./report";
import type { Stage } from "./stage";

/** A page to read, and the size of the workspace behind it. */
const views = ["metrics", "activity", "overview page", "activity page"] as const;
const sizes = ["empty", "young", "full"] as const;
type View = (typeof views)[number];
type Size = (typeof sizes)[number];
type Name = `${View}, ${Size}`;

/**
 * Measures the pages that users read, in three workspaces: an empty one, one with many names but little spend, and one
 * with ten million messages.
 */
export async function dashboardPart({ serve, dashboard }: Stage, requests: number): Promise<Part<Name>> {
  const { cookie, token, slugs } = dashboard;
  const server = await serve(withPages);
  const callOf = (view: View, slug: string): Call => {
    if (view === "metrics" || view === "activity")
      return { method: "GET", path: `/api/v1/workspaces/${slug}/${view}`, secret: token };
    const path = view === "overview page" ? `/${slug}` : `/${slug}/activity`;
    return { method: "GET", path, headers: { cookie } };
  };
  return {
    figures,
    contenders: views.flatMap((view) =>
      sizes.map((size) => ({
        name: `${view}, ${size}` as const,
        server,
        count: requests / (view.endsWith("page") ? 80 : 40),
        call: () => callOf(view, slugs[size]),
      })),
    ),
  };
}

/** The CPU time of a request in the service and in Postgres together, in ms. */
const serverMs = (name: Name) => (round: Round<Name>) => round[name].cpuMs + round[name].postgresCpuMs;

const figures = views.flatMap((view): Figure<Name>[] => [
  ...sizes.map((size) => ({
    name: `${view}, ${size} workspace: CPU of service and Postgres`,
    unit: "ms" as const,
    of: serverMs(`${view}, ${size}`),
  })),
  ...(["empty", "young"] as const).map((size) => ({
    name: `${view}: ten million messages to ${size === "empty" ? "none" : "few"}`,
    unit: "×" as const,
    of: (round: Round<Name>) => serverMs(`${view}, full`)(round) / serverMs(`${view}, ${size}`)(round),
    target: atMost(1.5),
  })),
]);
