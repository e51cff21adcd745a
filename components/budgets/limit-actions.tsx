"use client";

import { Check, PenLine, RefreshCw, Unlink } from "lucide-react";
import { useState } from "react";
import { callApi } from "@/components/requests/api";
import { useMutation } from "@/components/requests/use-mutation";
import { ActionsMenu } from "@/components/ui/actions-menu";
import { ConfirmDialog } from "@/components/ui/confirm-dialog";
import { DropdownMenuItem, DropdownMenuSeparator } from "@/components/ui/dropdown-menu";
import type { providerLimit, resolveProviderLimitRequest } from "@/lib/contract/bills/provider-limits";
import { budgetsSentenceId } from "./budget-view";
import type { LimitView } from "./limit-text";

/** The menu of a limit at a provider, for admins: read it, write it again, accept it, or unlink it. */
export function LimitActions({ workspace, limit }: { workspace: string; limit: LimitView }) {
  const [unlinking, setUnlinking] = useState<"keep" | "remove">();
  const path = `/api/v1/workspaces/${workspace}/provider-limits/${limit.id}`;
  const resolve = useMutation(
    (action: "check" | "write" | "accept") =>
      callApi<typeof providerLimit, typeof resolveProviderLimitRequest>("POST", `${path}/resolve`, {
        action,
      }),
    { done: ({ state }) => (state === "removing" ? "It is being removed." : "The provider is asked now.") },
  );
  const isRemoving = limit.state === "removing";
  return (
    <>
      <ActionsMenu name={limit.target} className="-mt-1.5 -mr-1.5 size-8">
        {isRemoving ? null : (
          <>
            <DropdownMenuItem onSelect={() => resolve.run("check")}>
              <RefreshCw aria-hidden="true" />
              Check it now
            </DropdownMenuItem>
            {limit.state === "equal" ? null : (
              <DropdownMenuItem onSelect={() => resolve.run("write")}>
                <PenLine aria-hidden="true" />
                Set {limit.wanted} there again
              </DropdownMenuItem>
            )}
            {limit.acceptable === null ? null : (
              <DropdownMenuItem onSelect={() => resolve.run("accept")}>
                <Check aria-hidden="true" />
                Set the budget to {limit.acceptable}
              </DropdownMenuItem>
            )}
            <DropdownMenuSeparator />
            <DropdownMenuItem destructive onSelect={() => setUnlinking("remove")}>
              <Unlink aria-hidden="true" />
              Unlink and remove the limit
            </DropdownMenuItem>
          </>
        )}
        <DropdownMenuItem destructive onSelect={() => setUnlinking("keep")}>
          <Unlink aria-hidden="true" />
          Unlink and leave the limit
        </DropdownMenuItem>
      </ActionsMenu>
      <ConfirmDialog
        open={unlinking !== undefined}
        onOpenChange={() => setUnlinking(undefined)}
        title={`Unlink ${limit.target}?`}
        confirm={unlinking === "remove" ? "Unlink and remove" : "Unlink"}
        onConfirm={() => callApi<typeof providerLimit>("DELETE", `${path}?limit=${unlinking ?? "keep"}`)}
        done={
          unlinking === "remove"
            ? `The limit of ${limit.target} is being removed.`
            : `${limit.target} is unlinked.`
        }
        focusAfter={budgetsSentenceId}
      >
        The budget no longer sets this limit.{" "}
        {unlinking === "remove"
          ? "The limit at the provider is removed, so that it no longer stops calls there."
          : "The limit at the provider stays as it is."}
      </ConfirmDialog>
    </>
  );
}
