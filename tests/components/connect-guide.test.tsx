import { screen } from "@testing-library/react";
import { expect, test } from "vitest";
import { ConnectGuide } from "@/components/connections/connect-guide";
import { show } from "./render";

test("Says how to connect each assistant, with this service's address", async () => {
  const url = "https://outlay.example/api/mcp";
  const user = show(<ConnectGuide url={url} />);
  for (const name of ["Claude Code", "Claude", "Cursor", "VS Code", "ChatGPT", "Others"]) {
    await user.click(screen.getByRole("tab", { name }));
    expect(screen.getByRole("tabpanel", { name }).textContent, name).toContain(url);
  }
});

test("Says of assistants in the provider's cloud that they cannot reach an address of this machine", async () => {
  const user = show(<ConnectGuide url="http://127.0.0.1:3000/api/mcp" />);
  for (const [name, isHosted] of [
    ["Claude", true],
    ["Cursor", false],
  ] as const) {
    await user.click(screen.getByRole("tab", { name }));
    const { textContent: text } = screen.getByRole("tabpanel", { name });
    expect(text?.includes("cannot reach this machine's local address"), name).toBe(isHosted);
  }
});
