import { act, screen, waitFor } from "@testing-library/react";
import { useEffect, useState } from "react";
import { expect, test } from "vitest";
import { ComputeAgain } from "@/components/recommendations/compute-again";
import { Toaster } from "@/components/ui/toaster";
import { recommendationExamples } from "@/lib/contract/examples/recommendations";
import { ServiceError } from "@/lib/errors";
import { answerApi } from "./api";
import { show } from "./render";

// This document has no popovers, in which notices are shown.
HTMLElement.prototype.showPopover ??= () => {};

const path = "/api/v1/workspaces/acme/recommendations";
const before = "2026-11-21T09:30:00.000Z";
const after = "2026-11-28T09:30:00.000Z";

/** The page. `page.compute` ends the computation, which the page shows when it is read again. */
function Page({ page }: { page: { compute?: () => void } }) {
  const [computedAt, setComputedAt] = useState(before);
  useEffect(() => {
    page.compute = () => setComputedAt(after);
  }, [page]);
  return (
    <>
      <ComputeAgain path={path} computedAt={computedAt} />
      <Toaster />
    </>
  );
}

// By its name: other files of a worker may have left notices, which have buttons, too.
const button = () => screen.getByRole<HTMLButtonElement>("button", { name: /^Comput/ });

test("Reads the page again until the recommendations are computed, and then says so", async () => {
  answerApi({
    [`POST ${path}`]: () => ({
      ...(recommendationExamples.responses.RecommendationList as object),
      computed_at: before,
    }),
  });
  let reads = 0;
  const page: { compute?: () => void } = {};
  const user = show(<Page page={page} />, { router: { refresh: () => (reads += 1) } });
  await user.click(screen.getByRole("button", { name: "Compute again" }));
  await waitFor(() => expect(button().textContent).toBe("Computing…"));
  expect(button().disabled).toBe(true);
  await waitFor(() => expect(reads).toBeGreaterThan(0));
  act(() => page.compute?.());
  expect(await screen.findByText("The recommendations are computed.")).toBeTruthy();
  expect(screen.getByRole<HTMLButtonElement>("button", { name: "Compute again" }).disabled).toBe(false);
});

test("Says why they are not computed, and does not wait for it", async () => {
  answerApi({
    [`POST ${path}`]: () => {
      throw new ServiceError("conflict", "They were computed less than ten minutes ago.");
    },
  });
  const user = show(<Page page={{}} />);
  await user.click(screen.getByRole("button", { name: "Compute again" }));
  expect(await screen.findByText("They were computed less than ten minutes ago.")).toBeTruthy();
  expect(screen.getByRole<HTMLButtonElement>("button", { name: "Compute again" }).disabled).toBe(false);
});
