import { screen, waitFor, within } from "@testing-library/react";
import { parse } from "csv-parse/sync";
import { beforeAll, beforeEach, expect, test, vi } from "vitest";
import { ProjectTable } from "@/components/projects/project-table";
import { toProjectView } from "@/components/projects/project-view";
import { ExactNumber } from "@/lib/contract/values/exact-number";
import { show } from "./render";

/** Costs whose nearest doubles are equal in part, with the project of each. The names are in three scripts. */
const costs: [name: string, usd: string][] = [
  ["Zoë’s search", "8.500000000000000001"],
  ["مشروع الدفع بالبطاقة", "8.500000000000000002"],
  ["検索", "8.5"],
  ["=cmd()", "0.000000001"],
  ["checkout 10", "900000000000.25"],
  ["checkout 2", "12"],
];

/** Shows those projects, and others that cost nothing. */
function showProjects(others = 4) {
  const rows = [
    ...costs,
    ...Array.from({ length: others }, (_, number) => [`Other ${number}`, "0"] as const),
  ];
  const projects = rows.map(([name, usd], index) =>
    toProjectView(
      {
        slug: `p-${index}`,
        name,
        archived_at: null,
        last_activity_on: "2026-11-20",
        range_usd: new ExactNumber(usd),
        range_message_count: 1,
      },
      { href: `/acme/projects/p-${index}`, trend: ["1", "2"], colour: "red", change: null, budget: null },
    ),
  );
  return show(
    <ProjectTable
      workspace="acme"
      label="Projects"
      projects={projects}
      bucket="day"
      views={{ owner: "ada", views: {} }}
    />,
  );
}

const heading = (name: string) => screen.findByRole("columnheader", { name });
const sortBy = async (name: string) => within(await heading(name)).getByRole("button");
/** The names in the first column, in the order that is shown. */
const names = () =>
  [...document.querySelectorAll("tbody tr[data-index] td:first-child bdi")].map((name) => name.textContent);

// The table loads its script apart.
beforeAll(() => import("@/components/table/loaded-table"));

beforeEach(() => {
  // biome-ignore lint/suspicious/noDocumentCookie: the table remembers its columns there.
  document.cookie = "outlay_tables=; max-age=0";
});

test("Sorts amounts exactly, in one direction, the other and not at all, with a click or Enter", async () => {
  const user = showProjects();
  const spent = await heading("Spent");
  expect(spent.getAttribute("aria-sort")).toBe("descending");
  const highest = ["checkout 10", "checkout 2", "مشروع الدفع بالبطاقة", "Zoë’s search", "検索", "=cmd()"];
  expect(names().slice(0, 6)).toEqual(highest);
  (await sortBy("Spent")).focus();
  await user.keyboard("{Enter}");
  expect((await heading("Spent")).getAttribute("aria-sort")).toBe("ascending");
  expect(names().slice(-6)).toEqual([...highest].reverse());
  await user.keyboard("{Enter}");
  expect((await heading("Spent")).getAttribute("aria-sort")).toBe(null);
  await user.keyboard("{Enter}");
  expect((await heading("Spent")).getAttribute("aria-sort")).toBe("descending");
  await user.click(await sortBy("Project"));
  expect((await heading("Project")).getAttribute("aria-sort")).toBe("ascending");
  expect((await heading("Spent")).getAttribute("aria-sort")).toBe(null);
  const byName = names();
  expect(byName.indexOf("checkout 2")).toBeLessThan(byName.indexOf("checkout 10"));
  await user.click(await sortBy("Project"));
  expect((await heading("Project")).getAttribute("aria-sort")).toBe("descending");
  expect(names()).toEqual(byName.reverse());
  await user.click(await sortBy("Project"));
  expect((await heading("Project")).getAttribute("aria-sort")).toBe(null);
});

test("Searches what is shown, says how much it found, and clears an empty result", async () => {
  const user = showProjects();
  const search = await screen.findByRole<HTMLInputElement>("searchbox", { name: "Search projects" });
  const status = screen.getByRole("status");
  await user.type(search, "ZOE");
  await waitFor(() => expect(status.textContent).toBe("1 of 10 projects"));
  expect(names()).toEqual(["Zoë’s search"]);
  await user.clear(search);
  await user.type(search, "الدفع");
  await waitFor(() => expect(names()).toEqual(["مشروع الدفع بالبطاقة"]));
  await user.clear(search);
  await user.type(search, "nothing like it");
  await waitFor(() => expect(status.textContent).toBe("0 of 10 projects"));
  expect(document.body.textContent).toContain("No project matches “nothing like it”.");
  await user.click(screen.getByRole("button", { name: "Clear search" }));
  expect(search.value).toBe("");
  expect(document.activeElement).toBe(search);
  await waitFor(() => expect(names()).toHaveLength(10));
});

test("Keeps a short list calm: it can be sorted, and has no search", async () => {
  showProjects(2);
  expect(await sortBy("Project")).toBeTruthy();
  expect(screen.queryByRole("searchbox")).toBe(null);
});

test("Moves between rows with the keyboard", async () => {
  const user = showProjects();
  const search = await screen.findByRole("searchbox", { name: "Search projects" });
  const focused = () => document.activeElement?.textContent;
  search.focus();
  await user.keyboard("{ArrowDown}");
  expect(focused()).toBe("checkout 10");
  await user.keyboard("{ArrowDown}");
  expect(focused()).toBe("checkout 2");
  await user.keyboard("{End}{ArrowDown}");
  expect(document.activeElement?.closest("tr")?.getAttribute("data-index")).toBe("9");
  await user.keyboard("{Home}");
  expect(focused()).toBe("checkout 10");
});

test("Saves what is shown as a CSV: the rows found, in their order, in the chosen columns", async () => {
  const saved: { name: string; file: Blob }[] = [];
  let file: Blob | undefined;
  vi.spyOn(URL, "createObjectURL").mockImplementation((blob) => {
    file = blob as Blob;
    return "blob:of-the-test";
  });
  vi.spyOn(HTMLAnchorElement.prototype, "click").mockImplementation(function (this: HTMLAnchorElement) {
    if (file) saved.push({ name: this.download, file });
  });
  const user = showProjects();
  await user.click(await screen.findByRole("button", { name: "View" }));
  await user.click(await screen.findByRole("checkbox", { name: "Last occurred" }));
  await user.type(screen.getByRole("searchbox", { name: "Search projects" }), "c");
  await waitFor(() => expect(names()).toHaveLength(4));
  await user.click(screen.getByRole("button", { name: "CSV" }));
  await waitFor(() => expect(saved).toHaveLength(1));
  expect(saved[0]?.name).toBe(`acme-projects-${new Date().toISOString().slice(0, 10)}.csv`);
  const [heads, ...lines] = parse((await saved[0]?.file.text()) ?? "") as string[][];
  expect(heads).toEqual(["Project", "Messages", "Spent"]);
  expect(lines).toEqual([
    ["checkout 10", "1", "900000000000.25"],
    ["checkout 2", "1", "12"],
    ["Zoë’s search", "1", "8.500000000000000001"],
    ["'=cmd()", "1", "0.000000001"],
  ]);
  vi.restoreAllMocks();
});
