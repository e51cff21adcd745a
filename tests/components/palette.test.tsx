import { screen, waitFor } from "@testing-library/react";
import { useState } from "react";
import { expect, test } from "vitest";
import { Palette } from "@/components/shell/palette";
import { ServiceError } from "@/lib/errors";
import { answerApi } from "./api";
import { show } from "./render";

const acme = { slug: "acme", name: "Acme" };
const path = "/api/v1/workspaces/acme";

/** The names of a workspace: one busy feature, and others that only a search finds. */
const answers = {
  [`GET ${path}/projects`]: () => ({ projects: [] }),
  [`GET ${path}/api-keys`]: () => ({ api_keys: [] }),
  [`GET ${path}/org`]: () => ({ members: [] }),
  [`GET ${path}/metrics`]: () => ({ by_feature: [{ value: "busy-1" }, { value: null }], by_user: [] }),
  [`GET ${path}/names`]: () => ({ features: ["Rare nightly digest"], people: ["rare@example.org"] }),
};

function TypedPalette() {
  const [text, setText] = useState("");
  return <Palette current={acme} workspaces={[acme]} text={text} onTextChange={setText} isEntered={false} />;
}

/** Shows the palette. @returns the reader's mouse and keyboard, what it says, and the addresses that it opened */
function openPalette() {
  const opened: string[] = [];
  const user = show(<TypedPalette />, { router: { push: (href) => opened.push(href) } });
  return {
    user,
    line: screen.getByRole("combobox"),
    said: () => screen.getByRole("status").textContent,
    opened,
  };
}

test("Says that names are loading, and which could not be read", async () => {
  let refuse = () => {};
  const refused = new Promise<void>((resolve) => {
    refuse = resolve;
  });
  answerApi({
    ...answers,
    [`GET ${path}/org`]: async () => {
      await refused;
      throw new ServiceError("unavailable", "Try again later.");
    },
  });
  const { said } = openPalette();
  expect(said()).toBe("Loading names…");
  expect(screen.getByRole("option", { name: "Budgets" })).toBeTruthy();
  refuse();
  await waitFor(() => expect(said()).toBe("Not everything could be loaded. Try again later."));
});

test("Finds a feature and a person beyond those on which most was spent", async () => {
  const calls = answerApi(answers);
  const { user, line, said, opened } = openPalette();
  expect(await screen.findByRole("option", { name: "busy-1" })).toBeTruthy();
  expect(screen.queryByRole("option", { name: "Rare nightly digest" })).toBe(null);
  await user.type(line, "digest rare");
  expect(await screen.findByRole("option", { name: "Rare nightly digest" })).toBeTruthy();
  expect(calls.at(-1)?.query.get("q")).toBe("digest rare");
  await waitFor(() => expect(said()).toBe("1 found"));
  await user.clear(line);
  await user.type(line, "rare@");
  expect(await screen.findByRole("option", { name: "rare@example.org" })).toBeTruthy();
  await user.keyboard("{Enter}");
  const [href = ""] = opened;
  expect(href).toMatch(/^\/acme\/activity\?/);
  expect(new URL(href, "http://127.0.0.1").searchParams.get("user")).toBe("rare@example.org");
});

test("Says that names cannot be looked for, and finds what is known without the service", async () => {
  const { [`GET ${path}/names`]: _, ...known } = answers;
  answerApi(known);
  const { user, line, said } = openPalette();
  await user.type(line, "rare night");
  await waitFor(() => expect(said()).toMatch(/^Not everything could be loaded\. Outlay cannot be reached/));
  expect(screen.queryByRole("option", { name: "Rare nightly digest" })).toBe(null);
  await user.clear(line);
  await user.type(line, "budg");
  expect(await screen.findByRole("option", { name: "Budgets" })).toBeTruthy();
});
