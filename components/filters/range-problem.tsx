import { Alert } from "@/components/ui/alert";

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
