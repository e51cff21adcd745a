import { formatNumber } from "@/components/figures/format-count";
import { Time } from "@/components/figures/time";
import { Badge } from "@/components/ui/badge";
import { Link } from "@/components/ui/link";
import { Table, TableBody, TableCell, TableHead, TableHeader, TableRow } from "@/components/ui/table";
import type { SourceSummary } from "@/lib/contract/sources/sources";
import { programLabel } from "./programs";

/** Sources: what each recorded, what was refused, and when it last sent something. A phone shows details below the name. */
export function SourceTable({ sources, workspace }: { sources: SourceSummary[]; workspace: string }) {
  return (
    <Table aria-label="Sources">
      <TableHeader>
        <TableRow>
          <TableHead>Source</TableHead>
          <TableHead className="text-right">Recorded</TableHead>
          <TableHead className="text-right max-sm:pr-0">Refused</TableHead>
          <TableHead className="hidden text-right sm:table-cell">Last received</TableHead>
        </TableRow>
      </TableHeader>
      <TableBody>
        {sources.map((source) => (
          <TableRow key={source.id}>
            <TableCell className="w-full min-w-32 py-3">
              <div className="grid gap-1">
                <p className="flex flex-wrap items-center gap-x-2 gap-y-1">
                  <Link
                    href={`/${workspace}/sources/${source.id}`}
                    prefetch={false}
                    className="rounded-sm font-medium underline-offset-4 [overflow-wrap:anywhere] hover:underline"
                  >
                    {source.name}
                  </Link>
                  <SourceBadges {...source} />
                </p>
                <p className="text-[13px] text-muted-foreground [overflow-wrap:anywhere]">
                  {whatSends(source)}
                </p>
                <p className="text-muted-foreground text-xs sm:hidden">
                  <LastReceived at={source.last_received_at} />
                </p>
              </div>
            </TableCell>
            <TableCell className="py-3 text-right tabular-nums">{formatNumber(source.recorded)}</TableCell>
            <TableCell className="py-3 text-right tabular-nums max-sm:pr-0">
              {source.refused === 0 ? (
                <span className="text-muted-foreground">0</span>
              ) : (
                <span className="font-medium text-warning">{formatNumber(source.refused)}</span>
              )}
            </TableCell>
            <TableCell className="hidden whitespace-nowrap py-3 text-right sm:table-cell">
              <LastReceived at={source.last_received_at} />
            </TableCell>
          </TableRow>
        ))}
      </TableBody>
    </Table>
  );
}

/** What is unusual about a source. */
export function SourceBadges({
  environment,
  status,
  is_silent: isSilent,
}: Pick<SourceSummary, "environment" | "status" | "is_silent">) {
  return (
    <>
      {isSilent ? <Badge variant="warning">Silent for a day</Badge> : null}
      {environment === "test" ? <Badge variant="outline">Test</Badge> : null}
      {status === "expired" ? <Badge variant="warning">Expired</Badge> : null}
      {status === "revoked" ? <Badge variant="destructive">Revoked</Badge> : null}
    </>
  );
}

function LastReceived({ at }: { at: string | null }) {
  return at ? <Time at={at} /> : <span className="text-muted-foreground">nothing yet</span>;
}

/** The emitters that were recognised; before that, the program that the source was set up for. */
function whatSends({ emitters, program }: SourceSummary): string {
  if (emitters.length === 0) return programLabel(program) ?? "No program chosen";
  const shown = emitters.slice(0, 4).join(", ");
  return emitters.length > 4 ? `${shown} and ${emitters.length - 4} more` : shown;
}

/** A sentence about all sources: how many send, how many are silent, and how many sent nothing yet. */
export function summarizeSources(sources: SourceSummary[]): string {
  const heard = sources.filter(({ last_received_at: at }) => at !== null);
  const silent = heard.filter(({ is_silent: isSilent }) => isSilent).length;
  const sending = heard.length - silent;
  const unheard = sources.length - heard.length;
  const many = (count: number) => (count === 1 ? "One source" : `${formatNumber(count)} sources`);
  const parts = [
    sending === 0
      ? "No source sent anything in the last 24 hours."
      : `${many(sending)} sent something in the last 24 hours.`,
    silent > 0 && `${many(silent)} sent before and ${silent === 1 ? "is" : "are"} silent now.`,
    unheard > 0 && `${many(unheard)} sent nothing yet.`,
  ];
  return parts.filter(Boolean).join(" ");
}
