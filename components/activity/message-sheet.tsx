"use client";

import dynamic from "next/dynamic";
import { usePathname, useSearchParams } from "next/navigation";
import { onDemand } from "@/components/connection/on-demand";
import { ApiError, type Problem } from "@/components/requests/api";
import { useApi } from "@/components/requests/use-api";
import { Alert } from "@/components/ui/alert";
import { Sheet, SheetContent, SheetHeader, SheetTitle } from "@/components/ui/sheet";
import { Skeleton } from "@/components/ui/skeleton";
import type { messageDetail } from "@/lib/contract/spend/message-detail";

const MessageFacts = dynamic(
  onDemand(() => import("./message-facts").then(({ MessageFacts }) => MessageFacts)),
  {
    loading: FactsSkeleton,
  },
);

/**
 * Shows a message beside the list. The `message` parameter of the address is its id; closing the sheet removes the parameter.
 */
export function MessageSheet({ workspace }: { workspace: string }) {
  const path = usePathname();
  const params = useSearchParams();
  const id = params.get("message");
  const close = () => {
    // The list is one step back in the history only if the message was opened from it, not if its address was opened directly.
    if (window.history.state?.openedFromList) return window.history.back();
    const rest = new URLSearchParams(params);
    rest.delete("message");
    const query = rest.toString();
    window.history.replaceState(null, "", query ? `${path}?${query}` : path);
  };
  return (
    <Sheet open={id !== null} onOpenChange={(open) => !open && close()}>
      <SheetContent>{id === null ? null : <Message key={id} workspace={workspace} id={id} />}</SheetContent>
    </Sheet>
  );
}

/** States: loading, the message, and a problem such as a message that does not exist. */
function Message({ workspace, id }: { workspace: string; id: string }) {
  const path = `/api/v1/workspaces/${workspace}/messages/${encodeURIComponent(id)}`;
  const { answer: message, problem } = useApi<typeof messageDetail>(path);
  if (message) return <MessageFacts workspace={workspace} message={message} />;
  return (
    <>
      <SheetHeader>
        <SheetTitle>Message</SheetTitle>
      </SheetHeader>
      {problem ? <Alert variant="destructive">{formatProblem(problem)}</Alert> : <FactsSkeleton />}
    </>
  );
}

function formatProblem(problem: Problem): string {
  // The API answers 400 when the id is not a UUID; for the user, such a message does not exist either.
  const isMissing = problem instanceof ApiError && (problem.status === 404 || problem.status === 400);
  return isMissing ? "There is no such message in this workspace." : problem.message;
}

function FactsSkeleton() {
  return (
    <div aria-busy="true" className="grid gap-4">
      <Skeleton className="h-8 w-36" />
      {["w-52", "w-64", "w-40", "w-56", "w-48", "w-60"].map((width) => (
        <Skeleton key={width} className={width} />
      ))}
    </div>
  );
}
