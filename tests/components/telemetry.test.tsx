import { screen, waitFor, within } from "@testing-library/react";
import { expect, test } from "vitest";
import { Telemetry } from "@/components/bills/telemetry";
import { type ProviderTelemetry, registerTelemetryRequest } from "@/lib/contract/bills/provider-telemetry";
import { billExamples } from "@/lib/contract/examples/bills";
import { validationFailed } from "@/lib/errors";
import { answerApi, readBody } from "./api";
import { show } from "./render";

const workspace = "/api/v1/workspaces/acme";
const none: ProviderTelemetry = {
  state: "none",
  problem: null,
  source_id: null,
  received_at: null,
  checked_at: null,
  registered_at: null,
  registered_by: null,
};

/** Opens the dialog that has a provider send its calls. */
async function openDialog() {
  const user = show(<Telemetry telemetry={none} workspace="acme" id="a1" name="Anthropic" />);
  await user.click(screen.getByRole("button", { name: "Have Anthropic send its calls" }));
  return { user, dialog: within(screen.getByRole("dialog", { name: "Have Anthropic send its calls" })) };
}

test("Has a provider send its calls, with a project for those that name none or without one", async () => {
  const calls = answerApi({
    [`GET ${workspace}/projects`]: () => ({ projects: [] }),
    [`POST ${workspace}/provider-accounts/a1/telemetry`]: ({ body }) => {
      const { project } = readBody(registerTelemetryRequest, body);
      if (project === "gone") throw validationFailed([{ path: "project", message: "is archived" }]);
      return billExamples.responses.ProviderAccount;
    },
  });
  const sent = () => calls.filter(({ method }) => method === "POST").map(({ body }) => body);
  const { user, dialog } = await openDialog();
  const project = dialog.getByLabelText("Project");
  await user.type(project, "gone{Enter}");
  await user.click(dialog.getByRole("button", { name: "Send calls here" }));
  expect(await dialog.findByText("Is archived.")).toBeTruthy();
  await user.type(project, "{Backspace}checkout{Enter}");
  await user.click(dialog.getByRole("button", { name: "Send calls here" }));
  await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
  expect(document.activeElement).toBe(screen.getByRole("region", { name: "Calls of Anthropic" }));
  const { user: other, dialog: again } = await openDialog();
  await other.click(again.getByRole("button", { name: "Send calls here" }));
  await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
  expect(sent()).toEqual([{ project: "gone" }, { project: "checkout" }, {}]);
});

test("Stops a provider there, or only here, and keeps the focus at its section", async () => {
  const calls = answerApi({
    [`DELETE ${workspace}/provider-accounts/a1/telemetry`]: () => billExamples.responses.ProviderAccount,
  });
  const telemetry: ProviderTelemetry = { ...none, state: "registered", source_id: "s1" };
  const user = show(
    <ul>
      {["a1", "a2"].map((id) => (
        <li key={id}>
          <Telemetry telemetry={telemetry} workspace="acme" id={id} name={id} />
        </li>
      ))}
    </ul>,
  );
  for (const onlyHere of [false, true]) {
    await user.click(screen.getByRole("button", { name: "Stop a1 from sending its calls" }));
    const dialog = within(screen.getByRole("alertdialog"));
    if (onlyHere) await user.click(dialog.getByRole("checkbox", { name: /^Stop only here/ }));
    await user.click(dialog.getByRole("button", { name: "Stop" }));
    await waitFor(() => expect(screen.queryByRole("alertdialog")).toBeNull());
    expect(document.activeElement).toBe(screen.getByRole("region", { name: "Calls of a1" }));
  }
  expect(calls.map(({ query }) => String(query))).toEqual(["destination=remove", "destination=leave"]);
});
