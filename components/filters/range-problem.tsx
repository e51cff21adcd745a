import { Alert } from "@/components/ui/alert";
import { problemOfChoices, type SearchParams } from "./href";

/** Says that the range in a page's address is invalid, and what is shown instead. Shows nothing if it is valid. */
export function RangeProblem({ problem }: { problem: string | undefined }) {
  if (problem === undefined) return null;
  return (
    <Alert variant="warning" className="mb-6">
      The range in this address is not valid, so this month is shown: <code>{problem.split(" ")[0]}</code>{" "}
      {problem.split(" ").slice(1).join(" ")}.
    </Alert>
  );
}

/** Says that a parameter in a page's address has an unknown value, and what is shown instead. Shows nothing if all are known. */
export function ChoiceProblem({
  params,
  choices,
}: {
  params: SearchParams;
  /** The values of each parameter, the default first. */
  choices: Record<string, readonly string[]>;
}) {
  const problem = problemOfChoices(params, choices);
  if (problem === undefined) return null;
  return (
    <Alert variant="warning" className="mb-6">
      This address is not valid: <code>{problem.name}</code> {problem.text}. The page shows{" "}
      <code>{`${problem.name}=${problem.shown}`}</code>.
    </Alert>
  );
}
