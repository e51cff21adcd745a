"use client";

import { useState } from "react";
import { callApi } from "@/components/requests/api";
import { useMutation } from "@/components/requests/use-mutation";
import { Button } from "@/components/ui/button";
import { Checkbox } from "@/components/ui/checkbox";
import { ConfirmButton } from "@/components/ui/confirm-dialog";
import type { providerAccount, pullRequest } from "@/lib/contract/bills/provider-accounts";

/** The actions of an admin for an account: pull it now, accept a day that is held, and remove it. */
export function AccountActions({
  workspace,
  id,
  name,
  isPulling,
  isHeld,
  isRegistered,
}: {
  workspace: string;
  id: string;
  name: string;
  isPulling: boolean;
  isHeld: boolean;
  isRegistered: boolean;
}) {
  const path = `/api/v1/workspaces/${workspace}/provider-accounts/${id}`;
  const pull = (body: { accept_jump?: boolean }) =>
    callApi<typeof providerAccount, typeof pullRequest>("POST", `${path}/pull`, body);
  const [bills, setBills] = useState<"keep" | "delete">("keep");
  const [destination, setDestination] = useState<"remove" | "leave">("remove");
  const now = useMutation(() => pull({}), { done: `The bills of ${name} are being pulled.` });
  return (
    <div className="flex flex-wrap gap-2">
      {isHeld ? (
        <ConfirmButton
          label="Accept"
          aria-label={`Accept what is held of ${name}`}
          size="sm"
          title={`Accept what ${name} bills?`}
          confirm="Accept and pull"
          destructive={false}
          onConfirm={() => pull({ accept_jump: true })}
          done={`What ${name} bills is accepted.`}
        >
          The account is pulled again, and what is billed then is stored, however much it is. Look at the
          provider's own page first.
        </ConfirmButton>
      ) : null}
      <Button
        variant="outline"
        size="sm"
        aria-label={`Pull ${name} now`}
        disabled={isPulling || now.isPending}
        onClick={() => now.run()}
      >
        Pull now
      </Button>
      <ConfirmButton
        label="Remove"
        aria-label={`Remove ${name}`}
        size="sm"
        title={`Remove ${name}?`}
        confirm="Remove the account"
        onConfirm={() =>
          callApi<typeof providerAccount>("DELETE", `${path}?bills=${bills}&destination=${destination}`)
        }
        details={
          <div className="grid gap-3">
            <Checkbox
              label="Delete its bills, too, and the billed history that they show"
              checked={bills === "delete"}
              onChange={(event) => setBills(event.target.checked ? "delete" : "keep")}
            />
            {isRegistered ? (
              <Checkbox
                label={`Leave Outlay's address at ${name}`}
                description="It still sends its calls, which are refused. For an account whose key no longer works there."
                checked={destination === "leave"}
                onChange={(event) => setDestination(event.target.checked ? "leave" : "remove")}
              />
            ) : null}
          </div>
        }
        done={`${name} is removed.`}
        focusAfter="provider-accounts"
      >
        Its costs are no longer pulled, and its key is deleted here. Revoke the key at the provider, too. Its
        bills stay, unless you delete them. Limits that budgets have set there stay as they are, and are no
        longer changed.{isRegistered ? " It no longer sends its calls here." : null}
      </ConfirmButton>
    </div>
  );
}
