"use client";

import { Pencil, RefreshCw, Trash2 } from "lucide-react";
import dynamic from "next/dynamic";
import { useRouter } from "next/navigation";
import { useRef, useState } from "react";
import { flushSync } from "react-dom";
import { callApi } from "@/components/api";
import { ActionsMenu } from "@/components/ui/actions-menu";
import { ConfirmDialog } from "@/components/ui/confirm-dialog";
import { DropdownMenuItem, DropdownMenuSeparator } from "@/components/ui/dropdown-menu";
import { toast } from "@/components/ui/toaster";
import type { apiKey, apiKeyWithSecret } from "@/lib/contract/api-keys";
import type { Permission } from "@/lib/contract/permissions";
import { type KeyView, keysSentenceId, type ServiceAddresses, viewKey } from "./key-view";
import { LastUse } from "./last-use";
import type { NewSecret } from "./secret-dialog";

// What waits for a dialog to be loaded is the dialog alone: without this the page would, and lose the focus.
const EditKeySheet = dynamic(() => import("./key-sheet").then((file) => file.EditKeySheet), { ssr: false });
const SecretDialog = dynamic(() => import("./secret-dialog"), { ssr: false });

/** What may be done with a key by whoever may: edit it, replace its secret, revoke it. */
export function KeyActions({
  apiKey: key,
  workspace,
  grantable,
  addresses,
}: {
  apiKey: KeyView;
  workspace: string;
  grantable: readonly Permission[];
  addresses: ServiceAddresses;
}) {
  const router = useRouter();
  const [asking, setAsking] = useState<"edit" | "rotate" | "revoke">();
  const [rotated, setRotated] = useState<NewSecret>();
  const path = `/api/v1/workspaces/${workspace}/api-keys/${key.id}`;
  const isGone = useRef(false);
  const close = () => {
    // First the dialog closes and gives the focus back to a button that is about to go with its row.
    flushSync(() => setAsking(undefined));
    if (isGone.current) document.getElementById(keysSentenceId)?.focus();
  };

  const rotate = async () => {
    const made = await callApi<typeof apiKeyWithSecret>("POST", `${path}/rotate`);
    setRotated({ apiKey: viewKey(made), secret: made.secret });
    router.refresh();
  };
  const revoke = async () => {
    await callApi<typeof apiKey>("DELETE", path);
    toast(`${key.name} is revoked.`);
    isGone.current = true;
    router.refresh();
  };

  return (
    <>
      <ActionsMenu name={key.name}>
        <DropdownMenuItem onSelect={() => setAsking("edit")}>
          <Pencil aria-hidden="true" />
          Edit
        </DropdownMenuItem>
        <DropdownMenuItem onSelect={() => setAsking("rotate")}>
          <RefreshCw aria-hidden="true" />
          Replace the secret
        </DropdownMenuItem>
        <DropdownMenuSeparator />
        <DropdownMenuItem destructive onSelect={() => setAsking("revoke")}>
          <Trash2 aria-hidden="true" />
          Revoke
        </DropdownMenuItem>
      </ActionsMenu>
      {asking === "edit" ? (
        <EditKeySheet apiKey={key} workspace={workspace} grantable={grantable} onClose={close} />
      ) : null}
      <ConfirmDialog
        open={asking === "rotate"}
        onOpenChange={close}
        title={`Replace the secret of ${key.name}?`}
        confirm="Replace"
        onConfirm={rotate}
      >
        <LastUse {...key} /> Its present secret is refused at once, and so is whatever uses it until it has
        the new one. Conditions and limits stay.
      </ConfirmDialog>
      <ConfirmDialog
        open={asking === "revoke"}
        onOpenChange={close}
        title={`Revoke ${key.name}?`}
        confirm="Revoke"
        onConfirm={revoke}
      >
        <LastUse {...key} /> Whatever uses it is refused at once. This cannot be undone; what it recorded
        stays.
      </ConfirmDialog>
      {rotated ? (
        <SecretDialog
          {...rotated}
          addresses={addresses}
          title={`The new secret of ${key.name}`}
          onClose={() => setRotated(undefined)}
        />
      ) : null}
    </>
  );
}
