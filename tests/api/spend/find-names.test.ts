import { beforeAll, expect, test } from "vitest";
import { maxNames } from "@/lib/contract/spend/names";
import { type Answer, apiClient, costMessage } from "@/tests/helpers/client";
import { foldPastDays } from "@/tests/helpers/folds";
import { withSharedHarness } from "@/tests/helpers/shared-harness";
import { makeTeam, type Team } from "@/tests/helpers/team";

const harness = withSharedHarness();
const baseUrl = () => harness.services[0]?.baseUrl ?? "";
const codeOf = ({ status, body }: Answer) => `${status} ${body.error ?? "ok"}`;

let team: Team;
let secret: string;
beforeAll(async () => {
  team = await makeTeam(harness);
  const { workspace } = team;
  ({ secret } = await harness.fixtures.key(workspace));
  const trial = (await harness.fixtures.key(workspace, { environment: "test" })).secret;
  const names = ["Order answers", "answers 100%", "Nightly_digest", "search"];
  const record = async (key: string, messages: unknown[]) =>
    expect(
      (await apiClient(baseUrl(), key).call("POST", "/api/v1/messages/batch", { messages })).status,
    ).toBe(207);
  await record(secret, [
    ...names.map((feature) => costMessage({ feature, user: `${feature[0]}@example.org` })),
    costMessage({ feature: "search", user: "bo@example.org" }),
    ...Array.from({ length: maxNames + 5 }, (_, index) => costMessage({ feature: `many ${index}` })),
  ]);
  await record(trial, [costMessage({ feature: "trial answers" })]);
});

const find = async (q: string, more = "") => {
  const answer = await team.users.viewer.get(`${team.path}/names?q=${encodeURIComponent(q)}${more}`);
  expect(codeOf(answer)).toBe("200 ok");
  return answer.body;
};

test("Finds features and people by all words of a text, where every character means itself", async () => {
  expect(await find("ANSWERS")).toMatchObject({ features: ["answers 100%", "Order answers"], people: [] });
  // Spaces around it are no part of the text, so that names that begin with it still come first.
  expect((await find("  answers ")).features).toEqual(["answers 100%", "Order answers"]);
  expect(await find("answers order")).toMatchObject({ features: ["Order answers"], people: [] });
  expect(await find("t_y")).toMatchObject({ features: [], people: [] });
  expect(await find("y_d")).toMatchObject({ features: ["Nightly_digest"], people: [] });
  expect(await find("0%")).toMatchObject({ features: ["answers 100%"] });
  expect(await find("bo@")).toMatchObject({ features: [], people: ["bo@example.org"] });
  expect(await find("answers", "&environment=test")).toMatchObject({
    features: ["trial answers"],
    people: [],
  });
});

test("Finds models, providers and tags", async () => {
  const { post } = apiClient(baseUrl(), secret);
  await post(costMessage({ provider: "Rare-AI", model: "rare-1", tags: { crew: "rarest" } }));
  expect(await find("rare")).toMatchObject({
    ...{ models: ["rare-1"], providers: ["Rare-AI"], tags: ["crew:rarest"], features: [] },
  });
});

test("Answers with a limited number of names", async () => {
  expect((await find("many")).features).toHaveLength(maxNames);
});

test("Finds no name that was used in earlier years only", async () => {
  const { post } = apiClient(baseUrl(), secret);
  const lastYear = `${new Date().getUTCFullYear() - 1}-12-31T23:59:59Z`;
  const usage = { user: "earlier@example.org", feature: "earlier" };
  expect((await post(costMessage({ ...usage, occurred_at: lastYear }))).status).toBe(201);
  expect(await find("earlier")).toMatchObject({ features: [], people: [] });
});

test("Finds the same names when past days are folded", async () => {
  // Names are of this year.
  const yearStart = Date.UTC(new Date().getUTCFullYear(), 0, 1);
  const old = new Date(Math.max(Date.now() - 20 * 86_400_000, yearStart)).toISOString();
  const { post } = apiClient(baseUrl(), secret);
  expect((await post(costMessage({ feature: "folded one", occurred_at: old }))).status).toBe(201);
  const before = await find("folded");
  expect(before.features).toEqual(["folded one"]);
  await foldPastDays(harness.fixtures);
  expect(await find("folded")).toEqual(before);
});

test.each(["q=", "q=a", "q=%20%20a", `q=${"x".repeat(101)}`, "", "q=ab&limit=5", "q=ab&environment=none"])(
  "Refuses ?%s",
  async (query) => {
    expect(codeOf(await team.users.viewer.get(`${team.path}/names?${query}`))).toBe("400 validation_failed");
  },
);

test("Shows names to members alone, and those of their workspace alone", async () => {
  expect(codeOf(await team.users.stranger.get(`${team.path}/names?q=answers`))).toBe("404 not_found");
  expect((await apiClient(baseUrl(), secret).get(`${team.path}/names?q=answers`)).status).toBe(401);
  const other = await makeTeam(harness);
  const { body } = await other.users.owner.get(`${other.path}/names?q=answers`);
  expect(body).toMatchObject({ features: [], people: [] });
});
