import { screen } from "@testing-library/react";
import { expect, test } from "vitest";
import { environments } from "@/components/filters/href";
import { ChoiceProblem } from "@/components/filters/range-problem";
import { show } from "./render";

const choices = { environment: environments, by: ["project", "model"] };

test("Names the parameter of an address that has an unknown value, its values, and what is shown", () => {
  show(<ChoiceProblem params={{ environment: "test", by: "colour" }} choices={choices} />);
  expect(screen.getByRole("alert").textContent).toBe(
    "This address is not valid: by must be one of: project, model. The page shows by=project.",
  );
});

test("Says nothing where each parameter has one of its values or is missing", () => {
  show(<ChoiceProblem params={{ environment: "live", period: "month" }} choices={choices} />);
  expect(screen.queryByText(/not valid/)).toBeNull();
});
