"use client";

import { Plus } from "lucide-react";
import dynamic from "next/dynamic";
import { useState } from "react";
import { onDemand } from "@/components/connection/on-demand";
import { Button } from "@/components/ui/button";
import type { KeyPermission } from "@/lib/contract/access/permissions";
import type { ServiceAddresses } from "./key-view";
import type { NewSecret } from "./secret-dialog";

// With `ssr: false`, loading a dialog does not suspend the page.
const NewKeySheet = dynamic(
  onDemand(() => import("./key-sheet").then((file) => file.NewKeySheet)),
  { ssr: false },
);
const SecretDialog = dynamic(
  onDemand(() => import("./secret-dialog")),
  { ssr: false },
);

/** The button that creates a key: it opens the form, and then a dialog with the key's secret. */
export function NewKey({
  workspace,
  grantable,
  addresses,
}: {
  workspace: string;
  /** The permissions that the signed-in member can grant. */
  grantable: readonly KeyPermission[];
  addresses: ServiceAddresses;
}) {
  const [isOpen, setOpen] = useState(false);
  const [created, setCreated] = useState<NewSecret>();
  return (
    <>
      <Button aria-haspopup="dialog" onClick={() => setOpen(true)}>
        <Plus aria-hidden="true" />
        Create a key
      </Button>
      {isOpen ? (
        <NewKeySheet
          workspace={workspace}
          grantable={grantable}
          onClose={() => setOpen(false)}
          onCreated={(key) => {
            setOpen(false);
            setCreated(key);
          }}
        />
      ) : null}
      {created ? (
        <SecretDialog
          {...created}
          addresses={addresses}
          title={`The secret of ${created.apiKey.name}`}
          onClose={() => setCreated(undefined)}
        />
      ) : null}
    </>
  );
}
