"use client";

import { useRef } from "react";
import { formatDay } from "@/components/figures/format-date";
import { Money } from "@/components/figures/money";
import { callApi } from "@/components/requests/api";
import { useMutation } from "@/components/requests/use-mutation";
import { Button } from "@/components/ui/button";
import { Link } from "@/components/ui/link";
import type { apiKey, editApiKeyRequest } from "@/lib/contract/access/api-keys";
import type { KeyView } from "./key-view";

/** The raise of a key's monthly limit, with the button that ends it, or a link to the form that requests one. */
export function LimitRaise({
  apiKey: { id, name, raise },
  workspace,
}: {
  apiKey: KeyView;
  workspace: string;
}) {
  const section = useRef<HTMLElement>(null);
  const { run, isPending } = useMutation(
    () =>
      callApi<typeof apiKey, typeof editApiKeyRequest>(
        "PATCH",
        `/api/v1/workspaces/${workspace}/api-keys/${id}`,
        {
          raise: null,
        },
      ),
    { done: `The raise of ${name} has ended.` },
  );
  const end = async () => {
    // The button disappears when the page has been read again.
    if (await run()) section.current?.focus();
  };
  return (
    <section
      ref={section}
      tabIndex={-1}
      aria-label="Raise of the limit"
      className="flex flex-wrap items-center justify-between gap-2 text-[13px]"
    >
      {raise ? (
        <>
          <p>
            The limit is <Money usd={raise.amount} figure="raise" /> through {formatDay(raise.until)}, then
            falls back by itself.
          </p>
          <Button variant="outline" size="sm" disabled={isPending} onClick={end}>
            End the raise
          </Button>
        </>
      ) : (
        <Link
          href={`/${workspace}/budgets/requests?key=${id}`}
          prefetch={false}
          className="rounded-sm underline decoration-border underline-offset-4"
        >
          Ask for a higher limit until a day
        </Link>
      )}
    </section>
  );
}
