import { Alert } from "@/components/ui/alert";
import { problemOfChoices, type SearchParams } from "./href";

/** Says that the range of a page's address is not valid, and what is shown instead. Nothing where it is. */
export function RangeProblem({ problem }: { problem: string | undefined }) {
  if (problem === undefined) return null;
  return (
    <Alert variant="warning" className="mb-6">
      The range in this address is not valid, so this month is shown: <code>{problem.split(" ")[0]}</code>{" "}
      {problem.split(" ").slice(1).join(" ")}.
    </Alert>
  );
}

/** Says that a parameter of a page's address with few values has another one, and what is shown instead. Nothing where none has. */
export function ChoiceProblem({
  params,
  choices,
}: {
  params: SearchParams;
  /** The values of each parameter, the usual one first. */
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
