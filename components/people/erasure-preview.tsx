"use client";

import { useEffect, useState } from "react";
import type { z } from "zod";
import { formatCount } from "@/components/figures/format-count";
import { callApi, Problem } from "@/components/requests/api";
import { Alert } from "@/components/ui/alert";
import { Button } from "@/components/ui/button";
import { Skeleton } from "@/components/ui/skeleton";
import type { eraseRequest, erasurePreview } from "@/lib/contract/spend/people";

type Preview = z.output<typeof erasurePreview>;

/** Shows where a person's name is stored, and where it would stay after an erasure. Reads this when it is first shown. */
export function ErasurePreview({ workspace, user }: { workspace: string; user: string }) {
  const [attempt, setAttempt] = useState(0);
  const [found, setFound] = useState<{ preview?: Preview; problem?: string }>({});
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new attempt reads again.
  useEffect(() => {
    const reading = new AbortController();
    const path = `/api/v1/workspaces/${workspace}/people/erasures/preview`;
    setFound({});
    callApi<typeof erasurePreview, typeof eraseRequest>("POST", path, { user }, reading.signal).then(
      (preview) => setFound({ preview }),
      (error: unknown) => {
        if (reading.signal.aborted) return;
        setFound({ problem: error instanceof Problem ? error.message : "That did not work." });
      },
    );
    return () => reading.abort();
  }, [workspace, user, attempt]);
  const { preview, problem } = found;
  if (problem !== undefined)
    return (
      <Alert variant="destructive" className="grid justify-items-start gap-2">
        The search for the name failed. {problem}
        <Button variant="outline" size="sm" onClick={() => setAttempt(attempt + 1)}>
          Try again
        </Button>
      </Alert>
    );
  return (
    <div
      role="status"
      aria-busy={!preview}
      tabIndex={-1}
      // Moves the focus here, because the pressed button was removed.
      ref={attempt > 0 ? focus : undefined}
      className="grid gap-4 text-sm outline-none [overflow-wrap:anywhere]"
    >
      {preview ? (
        <Found {...preview} />
      ) : (
        <>
          <span className="sr-only">Looking for the name</span>
          {["w-2/5", "w-4/5", "w-3/5", "w-1/2"].map((width) => (
            <Skeleton key={width} className={width} />
          ))}
        </>
      )}
    </div>
  );
}

const focus = (element: HTMLElement | null) => element?.focus();

function Found({ spellings, message_count, budgets, api_keys, provider_limits, stays, ...counts }: Preview) {
  const named = (noun: string, names: string[]) =>
    names.length === 0 ? [] : [`${formatCount(names.length, noun)}: ${names.join(", ")}`];
  const counted = (count: number, text: string) => (count === 0 ? [] : [text]);
  const changed = [
    ...counted(message_count, formatCount(message_count, "message")),
    ...counted(counts.billed_count, `Bills: ${formatCount(counts.billed_count, "row")}`),
    ...named("budget", budgets),
    ...named("API key", api_keys),
    ...counted(counts.alert_count, formatCount(counts.alert_count, "alert")),
    ...counted(counts.audit_count, `Audit log: ${formatCount(counts.audit_count, "row")}`),
    ...counted(
      counts.request_count,
      `Kept to recognise retries: ${formatCount(counts.request_count, "request")}`,
    ),
  ];
  return (
    <>
      {changed.length + provider_limits.length === 0 ? <p>The name was not found.</p> : null}
      {changed.length > 0 ? <List title="Replaced" items={changed} /> : null}
      {provider_limits.length > 0 ? (
        <List title="Limits at providers, unlinked here and left there" items={provider_limits} />
      ) : null}
      {spellings.length > 1 ? <List title="Spellings" items={spellings} /> : null}
      <List title="Stays" items={[...named("tag", stays.tags), ...stays.not_searched]} />
    </>
  );
}

function List({ title, items }: { title: string; items: string[] }) {
  return (
    <section aria-label={title}>
      <h3 className="font-medium">{title}</h3>
      <ul className="list-disc pl-5 text-muted-foreground">
        {items.map((item) => (
          <li key={item}>{item}</li>
        ))}
      </ul>
    </section>
  );
}
