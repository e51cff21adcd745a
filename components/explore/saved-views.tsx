"use client";

import { Bookmark, Trash2, Users } from "lucide-react";
import { useId, useState } from "react";
import { callApi } from "@/components/requests/api";
import { useMutation } from "@/components/requests/use-mutation";
import { Button } from "@/components/ui/button";
import { Checkbox } from "@/components/ui/checkbox";
import { ConfirmDialog, deletion } from "@/components/ui/confirm-dialog";
import { Input } from "@/components/ui/input";
import { Link } from "@/components/ui/link";
import { Popover, PopoverContent, PopoverTrigger } from "@/components/ui/popover";
import type { SavedView, savedView, saveViewRequest } from "@/lib/contract/spend/saved-views";

/** The menu of saved views: links to them, and a form that saves the present one. States: none saved, a list, a refusal. */
export function SavedViews({
  workspace,
  views,
  query,
  canShare,
}: {
  workspace: string;
  views: SavedView[];
  /** The query string of the page's address. */
  query: string;
  canShare: boolean;
}) {
  const [deleted, setDeleted] = useState<SavedView>();
  const titleId = useId();
  const path = `/api/v1/workspaces/${workspace}/views`;
  return (
    <Popover>
      <PopoverTrigger variant="outline" size="sm">
        <Bookmark aria-hidden="true" />
        Views
      </PopoverTrigger>
      <PopoverContent aria-labelledby={titleId} className="w-80">
        <h2 id={titleId} tabIndex={-1} className="pb-2 font-medium outline-none">
          Saved views
        </h2>
        {views.length === 0 ? (
          <p className="pb-4 text-muted-foreground">No views are saved yet.</p>
        ) : (
          <ul aria-label="Saved views" className="-mx-2 pb-4">
            {views.map((view) => (
              <li key={view.id} className="flex items-center gap-1">
                <Link
                  href={`/${workspace}/explore?${view.query}`}
                  prefetch={false}
                  className="flex min-w-0 flex-1 items-center gap-2 rounded-sm px-2 py-1.5 hover:bg-accent"
                >
                  <span dir="auto" className="min-w-0 flex-1 truncate">
                    {view.name}
                  </span>
                  {view.is_shared ? (
                    <Users role="img" aria-label="Shared" className="size-3.5 text-muted-foreground" />
                  ) : null}
                </Link>
                {view.can_delete ? (
                  <Button
                    variant="ghost"
                    size="icon"
                    className="size-7"
                    data-row-control
                    aria-label={`Delete the view ${view.name}`}
                    onClick={() => setDeleted(view)}
                  >
                    <Trash2 aria-hidden="true" />
                  </Button>
                ) : null}
              </li>
            ))}
          </ul>
        )}
        <SaveView path={path} query={query} canShare={canShare} />
        {/* In the popover, so that opening the dialog does not close it. */}
        <ConfirmDialog
          open={deleted !== undefined}
          onOpenChange={() => setDeleted(undefined)}
          title={`Delete the view ${deleted?.name ?? ""}?`}
          confirm="Delete"
          {...deletion(`${path}/${deleted?.id}`, {
            done: `The view ${deleted?.name} is deleted.`,
            undone: `The view ${deleted?.name} is back.`,
          })}
          focusAfter={titleId}
        >
          {deleted?.is_shared ? "It is deleted for all members." : "Only you see it."} No costs are changed.
        </ConfirmDialog>
      </PopoverContent>
    </Popover>
  );
}

function SaveView({ path, query, canShare }: { path: string; query: string; canShare: boolean }) {
  const [name, setName] = useState("");
  const [isShared, setShared] = useState(false);
  const { run, isPending, message } = useMutation(
    () =>
      callApi<typeof savedView, typeof saveViewRequest>("POST", path, { name, query, is_shared: isShared }),
    { done: "The view was saved.", quiet: true },
  );
  return (
    <form
      className="grid gap-3 border-t pt-4"
      onSubmit={async (event) => {
        event.preventDefault();
        if (await run()) {
          setName("");
          setShared(false);
        }
      }}
    >
      <Input
        aria-label="Name of the view"
        placeholder="Name of this view"
        maxLength={120}
        required
        value={name}
        onChange={(event) => setName(event.target.value)}
      />
      {canShare ? (
        <Checkbox
          label="Share with the workspace"
          checked={isShared}
          onChange={(event) => setShared(event.target.checked)}
        />
      ) : null}
      {message ? (
        <p role="alert" className="text-destructive">
          {message}
        </p>
      ) : null}
      <Button type="submit" size="sm" disabled={isPending || name.trim() === ""}>
        Save this view
      </Button>
    </form>
  );
}
