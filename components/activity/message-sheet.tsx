"use client";

import dynamic from "next/dynamic";
import { usePathname, useSearchParams } from "next/navigation";
import { useEffect, useState } from "react";
import { ApiError, callApi } from "@/components/api";
import { Alert } from "@/components/ui/alert";
import { Sheet, SheetContent, SheetHeader, SheetTitle } from "@/components/ui/sheet";
import { Skeleton } from "@/components/ui/skeleton";
import type { MessageDetail, messageDetail } from "@/lib/contract/activity";

const MessageFacts = dynamic(() => import("./message-facts").then(({ MessageFacts }) => MessageFacts), {
  loading: FactsSkeleton,
});

/** The message that the address names with `message`, beside the list. Closing it takes the name out of the address. */
export function MessageSheet({ workspace }: { workspace: string }) {
  const path = usePathname();
  const params = useSearchParams();
  const id = params.get("message");
  const close = () => {
    // Opened by a click on a row, the list is one step back; opened by its address, there is nothing behind it.
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

function Message({ workspace, id }: { workspace: string; id: string }) {
  const [message, setMessage] = useState<MessageDetail>();
  const [problem, setProblem] = useState<string>();
  useEffect(() => {
    const stopped = new AbortController();
    callApi<typeof messageDetail>(
      "GET",
      `/api/v1/workspaces/${workspace}/messages/${encodeURIComponent(id)}`,
      undefined,
      stopped.signal,
    ).then(setMessage, (error: unknown) => {
      if (!stopped.signal.aborted) setProblem(describeProblem(error));
    });
    return () => stopped.abort();
  }, [workspace, id]);
  if (message) return <MessageFacts workspace={workspace} message={message} />;
  return (
    <>
      <SheetHeader>
        <SheetTitle>Message</SheetTitle>
      </SheetHeader>
      {problem ? <Alert variant="destructive">{problem}</Alert> : <FactsSkeleton />}
    </>
  );
}

function describeProblem(error: unknown): string {
  if (!(error instanceof ApiError)) return "This message could not be shown. Try again.";
  // A name that is no id at all is no more of a message than one of another workspace.
  if (error.status === 404 || error.status === 400) return "There is no such message in this workspace.";
  return error.message;
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
