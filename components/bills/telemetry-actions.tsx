"use client";

import { useState } from "react";
import { callApi } from "@/components/requests/api";
import { useMutation } from "@/components/requests/use-mutation";
import { Button } from "@/components/ui/button";
import { Checkbox } from "@/components/ui/checkbox";
import { ConfirmButton } from "@/components/ui/confirm-dialog";
import type { providerAccount } from "@/lib/contract/bills/provider-accounts";
import type { TelemetryState } from "@/lib/contract/bills/provider-telemetry";
import { RegisterTelemetry } from "./register-telemetry";
import { telemetryId } from "./telemetry-id";

/** The actions of an admin for a provider's telemetry: set it up, check it, and stop it. */
export function TelemetryActions({
  workspace,
  id,
  name,
  state,
}: {
  workspace: string;
  id: string;
  name: string;
  state: TelemetryState;
}) {
  const path = `/api/v1/workspaces/${workspace}/provider-accounts/${id}/telemetry`;
  const check = useMutation(() => callApi<typeof providerAccount>("POST", `${path}/check`), {
    done: ({ telemetry }) => `Checked at ${name}${telemetry?.problem ? ": there is a problem." : "."}`,
  });
  const [destination, setDestination] = useState<"remove" | "leave">("remove");
  if (state === "unreachable" || state === "registering") return null;
  if (state === "none" || state === "refused" || state === "failed")
    return <RegisterTelemetry workspace={workspace} id={id} name={name} path={path} />;
  return (
    <div className="flex flex-wrap gap-2">
      <Button
        variant="outline"
        size="sm"
        aria-label={`Check at ${name} whether it sends its calls`}
        disabled={check.isPending}
        onClick={() => check.run()}
      >
        {check.isPending ? "Checking" : "Check"}
      </Button>
      <ConfirmButton
        label="Stop"
        aria-label={`Stop ${name} from sending its calls`}
        size="sm"
        title={`Stop ${name} from sending its calls?`}
        confirm="Stop"
        focusStays={telemetryId(id)}
        onConfirm={() => callApi<typeof providerAccount>("DELETE", `${path}?destination=${destination}`)}
        details={
          <Checkbox
            label="Stop only here"
            description={`Outlay's address stays at ${name}, for an account whose key no longer works there.`}
            checked={destination === "leave"}
            onChange={(event) => setDestination(event.target.checked ? "leave" : "remove")}
          />
        }
        done={`${name} no longer sends its calls here.`}
      >
        Outlay's address is removed at {name}, and the key of the source is revoked. What was recorded stays.
      </ConfirmButton>
    </div>
  );
}
