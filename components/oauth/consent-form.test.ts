import { expect, test } from "vitest";
import { permissions } from "@/lib/contract/access/permissions";
import { permissionsToTick } from "./consent-form";

const tools = ["log_usage", "add_expenses", "read_summaries"] as const;
const granted = { permissions: ["log_usage", "read_summaries"] as const, project: null, monthlyLimit: null };

test.each([
  ["reading alone where every permission of the tools is requested", tools, null, ["read_summaries"]],
  ["reading alone where every permission is requested", permissions, null, ["read_summaries"]],
  [
    "what is requested where that is less",
    ["log_usage", "read_summaries"],
    null,
    ["log_usage", "read_summaries"],
  ],
  ["what the program has now", tools, granted, ["log_usage", "read_summaries"]],
  ["nothing that is not requested any more", ["read_summaries"], granted, ["read_summaries"]],
] as const)("Ticks %s", (_, wanted, current, ticked) => {
  expect([...permissionsToTick({ grantable: permissions, current }, wanted)].sort()).toEqual(
    [...ticked].sort(),
  );
});

test("Ticks nothing that the user cannot grant", () => {
  expect(permissionsToTick({ grantable: ["read_summaries"], current: null }, ["log_usage"])).toEqual([]);
});
