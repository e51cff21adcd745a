import { Time } from "@/components/figures/time";
import { Badge } from "@/components/ui/badge";
import { CopyButton } from "@/components/ui/copy-button";
import type { AlertChannel } from "@/lib/contract/alerts/alert-channels";
import { ChannelActions } from "./channel-actions";
import { describeDigest, describeOff, describeWanted, kindLabel } from "./channel-view";

/** The channels of a workspace: where each sends, what it receives and whether it works. */
export function ChannelList({
  channels,
  ...context
}: {
  channels: AlertChannel[];
  workspace: string;
  canEdit: boolean;
}) {
  return (
    <ul aria-label="Channels" className="grid rounded-lg border">
      {channels.map((channel) => (
        <li
          key={channel.id}
          className="flex items-start justify-between gap-2 border-t p-3.5 first:border-t-0"
        >
          <div className="grid min-w-0 gap-1">
            <p className="flex flex-wrap items-center gap-x-2 gap-y-1">
              <span className="font-medium [overflow-wrap:anywhere]">{channel.name}</span>
              <State channel={channel} />
            </p>
            <p className="text-[13px] text-muted-foreground [overflow-wrap:anywhere]">
              {channel.kind === "pagerduty"
                ? channel.target
                : `${kindLabel(channel.kind)} · ${channel.target}`}
            </p>
            <p className="text-[13px] text-muted-foreground">
              {describeOff(channel) ?? (
                <>
                  {[describeWanted(channel), describeDigest(channel)].filter(Boolean).join(", ")}
                  {channel.failing_since ? (
                    <>
                      . Failing since <Time at={channel.failing_since} />
                    </>
                  ) : null}
                </>
              )}
            </p>
            {context.canEdit && channel.has_buttons && channel.interactivity_url ? (
              <div className="flex items-center gap-1 text-[13px] text-muted-foreground">
                <span className="[overflow-wrap:anywhere]">
                  Approves requests by a button. Request URL for Slack, under Interactivity &amp; Shortcuts:{" "}
                  <code className="text-foreground">{channel.interactivity_url}</code>
                </span>
                <CopyButton
                  text={channel.interactivity_url}
                  label={`Copy the request URL of ${channel.name}`}
                  className="size-8 shrink-0"
                />
              </div>
            ) : null}
          </div>
          <ChannelActions channel={channel} {...context} />
        </li>
      ))}
    </ul>
  );
}

function State({
  channel: { enabled, failing_since: failing, disabled_reason: reason },
}: {
  channel: AlertChannel;
}) {
  if (!enabled) return <Badge variant={reason === "by_admin" ? "outline" : "destructive"}>Off</Badge>;
  return failing ? <Badge variant="warning">Failing</Badge> : null;
}
