import { screen, waitFor, within } from "@testing-library/react";
import { expect, test } from "vitest";
import { ImportFile } from "@/app/(dashboard)/[workspace]/activity/import/import-file";
import { ingestRequest } from "@/lib/contract/ledger/message";
import { ServiceError } from "@/lib/errors";
import { answerApi, describeError, readBody } from "./api";
import { show } from "./render";

/** Opens the import, whose service checks messages by their schema. @returns the reader, and the calls */
function openImport() {
  const calls = answerApi({
    "GET /api/v1/workspaces/acme/projects": () => ({ projects: [] }),
    "POST /api/v1/workspaces/acme/messages/batch": ({ body }) => ({
      results: (body as { messages: unknown[] }).messages.map((message, index) => {
        try {
          readBody(ingestRequest, message);
          return { index, status: 201, replayed: false };
        } catch (error) {
          if (!(error instanceof ServiceError)) throw error;
          return { index, status: error.status, ...describeError(error) };
        }
      }),
    }),
  });
  return { user: show(<ImportFile workspace="acme" />), calls };
}

const fileOf = (lines: string[]) => new File([lines.join("\n")], "costs.csv", { type: "text/csv" });
const choose = () => screen.getByLabelText(/^Choose a CSV file/);
const button = (name: string) => screen.findByRole<HTMLButtonElement>("button", { name });

test("Uses one project for all rows where the column is missing", async () => {
  const { user, calls } = openImport();
  await user.upload(choose(), fileOf(["Vendor;Amount;Currency", "Figma;45;USD", "Hetzner;20,5;EUR"]));
  expect((await button("Check the rows")).disabled).toBe(true);
  expect(document.body.textContent).toContain("Choose the column that contains the project");
  await user.type(screen.getByLabelText("Project"), "office");
  const preview = screen.getByRole("region", { name: "Preview of the first rows" });
  expect(preview.textContent).toContain("20.5 EUR");
  await user.click(await button("Check the rows"));
  await user.click(await button("Record 2 rows"));
  expect(await screen.findByText("2 rows recorded.")).toBeTruthy();
  expect(calls.at(-1)?.query.has("dry_run")).toBe(false);
  expect(calls.at(-1)?.body).toMatchObject({
    messages: [
      { project: "office", message: { vendor: "Figma", amount: 45, currency: "USD" } },
      { project: "office", message: { vendor: "Hetzner", amount: 20.5, currency: "EUR" } },
    ],
  });
});

test("Lists all that is wrong with a row at once", async () => {
  const { user } = openImport();
  await user.upload(
    choose(),
    fileOf([
      "project,provider,unit,quantity,cost,date",
      "checkout,openai,requests,many,1.5,2026-11-02",
      "checkout,openai,requests,few,-1,soon",
    ]),
  );
  await user.click(await button("Check the rows"));
  const refused = within(await screen.findByRole("region", { name: "Refused rows" }));
  const [, ...rows] = refused.getAllByRole("row").map(({ textContent }) => textContent);
  expect(rows).toHaveLength(4);
  expect(rows[0]).toMatch(/^2\s*quantity\s*"many" is not a number/);
  expect(rows[1]).toMatch(/^3\s*quantity/);
  for (const other of rows.slice(2)) expect(other).toMatch(/^3\s*(estimated_cost|occurred_at)/);
});

test("Explains why it refuses a file that is too long, or no file", async () => {
  const { user } = openImport();
  const line = "2026-11-02,checkout,openai,gpt-4o,input_tokens,1,0.001";
  const lines = ["Date,Project,Provider,Model,Unit,Tokens,Cost", ...Array<string>(50_001).fill(line)];
  await user.upload(choose(), fileOf(lines));
  expect(await screen.findByText(/The file has more than 50,000 rows\./)).toBeTruthy();
  expect(document.body.textContent).toContain("npm run import -- FILE");
  await waitFor(() => expect((choose() as HTMLInputElement).disabled).toBe(false));
  await user.upload(choose(), fileOf([]));
  expect(await screen.findByText(/The file is empty\./)).toBeTruthy();
});
