import { screen, waitFor, within } from "@testing-library/react";
import { expect, test } from "vitest";
import { NewKeySheet } from "@/components/keys/key-sheet";
import { createApiKeyRequest } from "@/lib/contract/access/api-keys";
import { keyPermissions } from "@/lib/contract/access/permissions";
import { notFound, validationFailed } from "@/lib/errors";
import { answerApi, readBody } from "./api";
import { describedBy, show } from "./render";

/** Opens the form of a new key. @returns the reader's mouse and keyboard, and the form */
function openSheet() {
  const user = show(
    <NewKeySheet workspace="acme" grantable={keyPermissions} onClose={() => {}} onCreated={() => {}} />,
  );
  return { user, sheet: within(screen.getByRole("dialog", { name: "Create a key" })) };
}

const create = "POST /api/v1/workspaces/acme/api-keys";

test("Sums up in a sentence what a key may do, as its form is filled in", async () => {
  const { user, sheet } = openSheet();
  const sentence = sheet.getByRole("status");
  expect(sentence.textContent).toBe("May log usage in every project.");
  await user.click(sheet.getByRole("radio", { name: /^Read-only assistant/ }));
  expect(sentence.textContent).toBe("May read summaries in every project.");
  await user.click(sheet.getByRole("radio", { name: /^Something else/ }));
  await user.click(sheet.getByRole("checkbox", { name: /^Log usage/ }));
  await user.click(sheet.getByText("All but some"));
  await user.type(sheet.getByLabelText("Excluded projects"), "search{Enter}");
  await user.type(sheet.getByLabelText(/^How much per month/), "1,250.50");
  await user.click(sheet.getByText("More limits"));
  await user.type(await sheet.findByLabelText(/^Requests in any 60 seconds/), "60");
  await waitFor(() =>
    expect(sentence.textContent).toBe(
      "May log usage and read summaries in every project but search, up to $1,250.50 a month, at most 60 requests a minute.",
    ),
  );
});

test("Shows the API's errors beside their fields, and focuses the first", async () => {
  answerApi({
    [create]: ({ body }) => {
      readBody(createApiKeyRequest, body);
      throw validationFailed([{ path: "allowed_cidrs.0", message: "must be an address or a CIDR range" }]);
    },
  });
  const { user, sheet } = openSheet();
  const send = () => user.click(sheet.getByRole("button", { name: "Create the key" }));
  const addresses = sheet.getByLabelText("Allowed IP addresses");
  await user.type(addresses, "home{Enter}");
  await send();
  const name = sheet.getByLabelText("What is its name?");
  await waitFor(() => expect(describedBy(name)).toBe("Must not be blank."));
  expect(document.activeElement).toBe(name);
  await user.type(name, "CI");
  await user.click(sheet.getByRole("radio", { name: "Only some" }));
  await send();
  expect(await sheet.findByText("Choose at least one project.")).toBeTruthy();
  await user.click(sheet.getByRole("radio", { name: "Every project" }));
  await send();
  await waitFor(() => expect(describedBy(addresses)).toMatch(/Home must be an address or a CIDR range/));
  expect(document.activeElement).toBe(addresses);
});

test("Restricts a key to an address that was typed and not confirmed", async () => {
  const calls = answerApi({
    [create]: () => {
      throw notFound();
    },
  });
  const { user, sheet } = openSheet();
  await user.type(sheet.getByLabelText("What is its name?"), "Office");
  await user.type(sheet.getByLabelText("Allowed IP addresses"), "203.0.113.0/24");
  await user.click(sheet.getByRole("button", { name: "Create the key" }));
  await waitFor(() => expect(calls.at(-1)?.body).toMatchObject({ allowed_cidrs: ["203.0.113.0/24"] }));
});

test("Limits a key to the slug of a project that does not exist yet", async () => {
  const calls = answerApi({
    "GET /api/v1/workspaces/acme/projects": () => ({ projects: [] }),
    [create]: () => {
      throw notFound();
    },
  });
  const { user, sheet } = openSheet();
  await user.type(sheet.getByLabelText("What is its name?"), "Rollout");
  await user.click(sheet.getByRole("radio", { name: "Only some" }));
  const projects = sheet.getByLabelText("Allowed projects");
  expect(describedBy(projects)).toMatch(/the slug of a new project/);
  await user.type(projects, "next-release");
  expect(await sheet.findByRole("option", { name: "next-release new" })).toBeTruthy();
  await user.keyboard("{Enter}");
  await waitFor(() => expect(sheet.getByRole("status").textContent).toContain("in next-release"));
  await user.click(sheet.getByRole("button", { name: "Create the key" }));
  await waitFor(() =>
    expect(calls.at(-1)?.body).toMatchObject({ conditions: { project_slugs: ["next-release"] } }),
  );
});
