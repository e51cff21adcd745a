"use client";

import dynamic from "next/dynamic";
import { useState } from "react";
import { flushSync } from "react-dom";
import { onDemand } from "@/components/connection/on-demand";
import { formatCount } from "@/components/figures/format-count";
import { Money } from "@/components/figures/money";
import { Button } from "@/components/ui/button";
import { focusResult } from "@/components/ui/focus-after";
import { maxBulkMessages } from "@/lib/contract/ledger/limits";
import type { BulkRequest } from "./bulk-action";
import type { BulkKind } from "./bulk-dialog";
import { type ActivityItem, sumOfItems } from "./row";
import type { Selection } from "./use-selection";

// With `ssr: false`, loading a dialog does not suspend the page, which would lose the focus.
const BulkDialog = dynamic(
  onDemand(() => import("./bulk-dialog")),
  { ssr: false },
);

const kinds: { kind: BulkKind; label: string }[] = [
  { kind: "move", label: "Move" },
  { kind: "tags", label: "Tags" },
  { kind: "amount", label: "Amounts" },
  { kind: "void", label: "Void" },
];

/** The actions for the selected rows, at the bottom of the window while rows are selected. */
export function SelectionBar({
  workspace,
  source,
  items,
  hasMore,
  selection,
  onDone,
}: {
  workspace: string;
  /** Path of the activity endpoint with its filters. */
  source: string;
  items: ActivityItem[];
  /** Whether more rows match than are shown. */
  hasMore: boolean;
  selection: Selection;
  /** Called when the rows were changed. */
  onDone: () => void;
}) {
  const [open, setOpen] = useState<BulkKind>();
  const { ids, hasAll, selectAll, clear } = selection;
  if (ids.size === 0) return null;
  const chosen = items.filter(({ id }) => ids.has(id));
  const target: Pick<BulkRequest, "messages" | "filters"> = hasAll
    ? { filters: filtersOf(source) }
    : { messages: [...ids] };
  /** Ends the selection, after which the focus is on the first row that was selected. */
  const leave = () => {
    flushSync(() => {
      setOpen(undefined);
      clear();
    });
    if (chosen[0]) focusResult(`a[data-row][href$="message=${chosen[0].id}"]`);
  };
  return (
    <section
      aria-label="Selected rows"
      className="sticky bottom-3 z-20 mt-4 flex flex-wrap items-center gap-x-4 gap-y-2 rounded-lg border bg-popover px-3.5 py-2.5 text-sm shadow-lg"
    >
      <p aria-live="polite">
        {hasAll ? (
          "All that match are selected"
        ) : (
          <>
            <span className="font-medium">{formatCount(ids.size, "row")} selected</span>
            <span className="text-muted-foreground">
              {" · "}
              <Money usd={sumOfItems(chosen)} figure="selected_usd" />
            </span>
          </>
        )}
      </p>
      <Button size="sm" variant="ghost" className="-ml-2.5 text-muted-foreground" onClick={leave}>
        Clear
      </Button>
      {hasMore && !hasAll ? (
        <button
          type="button"
          onClick={selectAll}
          className="text-primary underline-offset-4 hover:underline focus-visible:underline"
        >
          Select all that match, up to {formatCount(maxBulkMessages, "row")}
        </button>
      ) : null}
      <div className="ml-auto flex flex-wrap gap-2">
        {kinds.map(({ kind, label }) => (
          <Button key={kind} size="sm" variant="outline" aria-haspopup="dialog" onClick={() => setOpen(kind)}>
            {label}…
          </Button>
        ))}
      </div>
      {open ? (
        <BulkDialog
          workspace={workspace}
          kind={open}
          target={target}
          onClose={() => setOpen(undefined)}
          onDone={() => {
            leave();
            onDone();
          }}
        />
      ) : null}
    </section>
  );
}

/** Parameters of the address that are not filters, because they only decide how rows are shown. */
const viewNames = ["sort", "currency", "limit", "cursor", "compare", "compare_from", "compare_to"];

/** The filters of a list, from the address of its endpoint. */
function filtersOf(source: string): Record<string, string> {
  const params = new URL(source, "http://localhost").searchParams;
  return Object.fromEntries([...params].filter(([name]) => !viewNames.includes(name)));
}
