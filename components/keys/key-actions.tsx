"use client";

import { Pencil, RefreshCw, Trash2 } from "lucide-react";
import dynamic from "next/dynamic";
import { useState } from "react";
import { onDemand } from "@/components/connection/on-demand";
import { callApi } from "@/components/requests/api";
import { ActionsMenu } from "@/components/ui/actions-menu";
import { ConfirmDialog } from "@/components/ui/confirm-dialog";
import { DropdownMenuItem, DropdownMenuSeparator } from "@/components/ui/dropdown-menu";
import type { apiKey, apiKeyWithSecret } from "@/lib/contract/access/api-keys";
import type { KeyPermission } from "@/lib/contract/access/permissions";
import { type KeyView, keysSentenceId, type ServiceAddresses, toKeyView } from "./key-view";
import { LastUse } from "./last-use";
import type { NewSecret } from "./secret-dialog";

// With `ssr: false`, loading a dialog does not suspend the page, which would lose the focus.
const EditKeySheet = dynamic(
  onDemand(() => import("./key-sheet").then((file) => file.EditKeySheet)),
  { ssr: false },
);
const SecretDialog = dynamic(
  onDemand(() => import("./secret-dialog")),
  { ssr: false },
);

/** The menu of a key: edit it, rotate its secret, revoke it. */
export function KeyActions({
  apiKey: key,
  workspace,
  grantable,
  addresses,
}: {
  apiKey: KeyView;
  workspace: string;
  /** The permissions that the signed-in member can grant. */
  grantable: readonly KeyPermission[];
  addresses: ServiceAddresses;
}) {
  const [dialog, setDialog] = useState<"edit" | "rotate" | "revoke">();
  const [rotated, setRotated] = useState<NewSecret>();
  const path = `/api/v1/workspaces/${workspace}/api-keys/${key.id}`;
  const close = () => setDialog(undefined);
  const rotate = async () => {
    const answer = await callApi<typeof apiKeyWithSecret>("POST", `${path}/rotate`);
    setRotated({ apiKey: toKeyView(answer), secret: answer.secret });
  };

  return (
    <>
      <ActionsMenu name={key.name}>
        <DropdownMenuItem onSelect={() => setDialog("edit")}>
          <Pencil aria-hidden="true" />
          Edit
        </DropdownMenuItem>
        <DropdownMenuItem onSelect={() => setDialog("rotate")}>
          <RefreshCw aria-hidden="true" />
          Rotate the secret
        </DropdownMenuItem>
        <DropdownMenuSeparator />
        <DropdownMenuItem destructive onSelect={() => setDialog("revoke")}>
          <Trash2 aria-hidden="true" />
          Revoke
        </DropdownMenuItem>
      </ActionsMenu>
      {dialog === "edit" ? (
        <EditKeySheet apiKey={key} workspace={workspace} grantable={grantable} onClose={close} />
      ) : null}
      <ConfirmDialog
        open={dialog === "rotate"}
        onOpenChange={close}
        title={`Rotate the secret of ${key.name}?`}
        confirm="Rotate"
        onConfirm={rotate}
      >
        <LastUse {...key} /> The current secret is refused at once. Programs that use it fail until they have
        the new one. Conditions and limits stay.
      </ConfirmDialog>
      <ConfirmDialog
        open={dialog === "revoke"}
        onOpenChange={close}
        title={`Revoke ${key.name}?`}
        confirm="Revoke"
        onConfirm={() => callApi<typeof apiKey>("DELETE", path)}
        done={`${key.name} is revoked.`}
        focusAfter={keysSentenceId}
      >
        <LastUse {...key} /> Requests with it are refused at once. This cannot be undone. What it recorded
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
