import { screen } from "@testing-library/react";
import { beforeAll, expect, test } from "vitest";
import { SubjectTable } from "@/components/subjects/subject-table";
import { show } from "./render";

// The table loads its script apart.
beforeAll(() => import("@/components/table/loaded-table"));

test("Says how many lines have no price, and shows no amount where that is all", async () => {
  const subject = (value: string, spent: string, unpriced: number) => ({
    ...{ value, name: value, href: `/acme/spend/model?name=${value}`, messages: 9, change: null },
    ...{ spent, unpriced },
  });
  const subjects = [subject("gpt-5", "12.5", 0), subject("mixed", "2", 3), subject("ranker-7b", "0", 1)];
  show(
    <SubjectTable
      workspace="acme"
      dimension="model"
      subjects={[...subjects, subject("free", "0", 0)]}
      views={{ owner: "ada", views: {} }}
    />,
  );
  const rows = await screen.findAllByRole("row");
  const amounts = rows.slice(1).map((row) => row.querySelector("td:last-child")?.textContent);
  expect(amounts).toEqual(["$12.50", "$2.003 without a price", "No price1 line", "$0.00"]);
});
