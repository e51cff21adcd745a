"use client";

import { Plus } from "lucide-react";
import dynamic from "next/dynamic";
import { useState } from "react";
import { Button } from "@/components/ui/button";
import type { Permission } from "@/lib/contract/permissions";
import type { ServiceAddresses } from "./key-view";
import type { NewSecret } from "./secret-dialog";

// Nobody needs a form before they ask for it. What waits for it is the form alone: without this the page would.
const NewKeySheet = dynamic(() => import("./key-sheet").then((file) => file.NewKeySheet), { ssr: false });
const SecretDialog = dynamic(() => import("./secret-dialog"), { ssr: false });

/** The button that makes a key, and what follows. */
export function NewKey({
  workspace,
  grantable,
  addresses,
}: {
  workspace: string;
  grantable: readonly Permission[];
  addresses: ServiceAddresses;
}) {
  const [isAsking, setAsking] = useState(false);
  const [made, setMade] = useState<NewSecret>();
  return (
    <>
      <Button aria-haspopup="dialog" onClick={() => setAsking(true)}>
        <Plus aria-hidden="true" />
        Make a key
      </Button>
      {isAsking ? (
        <NewKeySheet
          workspace={workspace}
          grantable={grantable}
          onClose={() => setAsking(false)}
          onMade={(key) => {
            setAsking(false);
            setMade(key);
          }}
        />
      ) : null}
      {made ? (
        <SecretDialog
          {...made}
          addresses={addresses}
          title={`The secret of ${made.apiKey.name}`}
          onClose={() => setMade(undefined)}
        />
      ) : null}
    </>
  );
}
