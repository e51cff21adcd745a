import { expect, test } from "vitest";
import { workspaceSlug } from "@/lib/contract/access/workspace";
import { slugOf } from "./service";

test.each([
  ["Acme", "acme"],
  ["  Café Zürich & Co. ", "cafe-zurich-co"],
  ["--R&D / Platform 2--", "r-d-platform-2"],
  ["数据", ""],
])("Turns %j into %j", (name, slug) => expect(slugOf(name)).toBe(slug));

test("Shortens a long name to a valid slug that does not end in a dash", () => {
  const slug = slugOf(`${"a".repeat(62)} ${"b".repeat(58)}`);
  expect(slug).toBe("a".repeat(62));
  expect(workspaceSlug.safeParse(slug).success).toBe(true);
});
