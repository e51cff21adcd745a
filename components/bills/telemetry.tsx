import { Time } from "@/components/figures/time";
import { Alert } from "@/components/ui/alert";
import { Badge } from "@/components/ui/badge";
import { Link } from "@/components/ui/link";
import type { ProviderTelemetry, TelemetryState } from "@/lib/contract/bills/provider-telemetry";
import { TelemetryActions } from "./telemetry-actions";
import { telemetryId } from "./telemetry-id";

const states: Record<
  TelemetryState,
  { label: string; variant: "outline" | "success" | "warning" | "destructive" } | null
> = {
  none: null,
  unreachable: null,
  registering: { label: "Setting up", variant: "outline" },
  registered: { label: "Set up", variant: "outline" },
  test_awaited: { label: "Waiting for the test", variant: "outline" },
  receiving: { label: "Receiving", variant: "success" },
  refused: { label: "Refused", variant: "destructive" },
  failed: { label: "Not set up", variant: "warning" },
  failing: { label: "Not delivered", variant: "warning" },
  disabled: { label: "Turned off there", variant: "warning" },
  gone: { label: "Removed there", variant: "warning" },
};

/** What to do about a state that has a problem. */
const remedies: Partial<Record<TelemetryState, string>> = {
  refused: "Nothing was set up there, and the key that was made for it is revoked.",
  failed: "Try again: what may have been left there is removed first.",
  failing: "Check it again once that is put right.",
  disabled: "Turn it on there, or stop it here and set it up again.",
  gone: "Stop it here, and set it up again.",
};

/** Whether a provider sends its calls here, with the actions of an admin. */
export function Telemetry({
  telemetry,
  workspace,
  id,
  name,
}: {
  telemetry: ProviderTelemetry;
  workspace: string;
  id: string;
  name: string;
}) {
  const { state, problem, source_id: sourceId, received_at: receivedAt } = telemetry;
  const shown = states[state];
  const unreachable = state === "unreachable" ? problem : null;
  return (
    <section
      id={telemetryId(id)}
      tabIndex={-1}
      aria-label={`Calls of ${name}`}
      className="grid gap-2 border-t pt-2"
    >
      <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2">
        <div className="grid min-w-0 gap-0.5">
          <span className="flex flex-wrap items-center gap-2 text-sm">
            Calls{shown ? <Badge variant={shown.variant}>{shown.label}</Badge> : null}
          </span>
          <span className="text-muted-foreground text-xs">
            {sourceId === null ? (
              (unreachable ?? `${name} can send every call here by itself, without prompts and answers.`)
            ) : (
              <>
                Sent to{" "}
                <Link href={`/${workspace}/sources/${sourceId}`} className="underline underline-offset-4">
                  its source
                </Link>
                {receivedAt === null ? (
                  ", nothing has arrived yet"
                ) : (
                  <>
                    , last received <Time at={receivedAt} />
                  </>
                )}
              </>
            )}
          </span>
        </div>
        <TelemetryActions workspace={workspace} id={id} name={name} state={state} />
      </div>
      {problem === null || unreachable !== null ? null : (
        <Alert className="[overflow-wrap:anywhere]">
          {problem} {remedies[state]}
        </Alert>
      )}
    </section>
  );
}
