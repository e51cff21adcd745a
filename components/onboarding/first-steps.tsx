import { FileUp, SquareTerminal } from "lucide-react";
import type { ReactNode } from "react";
import { programs } from "@/components/sources/programs";
import { Link } from "@/components/ui/link";
import { Step } from "@/components/ui/step";
import { sourcePrograms } from "@/lib/contract/sources/source-programs";
import { FirstCost, OfferZone, SetUpAlerts } from "./on-demand";
import type { AlertSetup } from "./set-up-alerts";

/**
 * The first steps of a workspace: choose what to record, and set up alerts. The first live cost appears when it arrives.
 * @param props.userName the reader's name; null if they have none
 * @param props.waiting the names and ids of sources that were added and have sent nothing yet
 * @param props.offersZone whether no time zone was chosen yet, and the reader may choose one
 * @param props.hasTestData whether there is test data, which does not complete these steps
 */
export function FirstSteps({
  workspace,
  userName,
  canRecord,
  waiting,
  hasTestData,
  offersZone,
  alerts,
}: {
  workspace: string;
  userName: string | null;
  canRecord: boolean;
  waiting: { id: string; name: string }[];
  hasTestData: boolean;
  offersZone: boolean;
  alerts: AlertSetup;
}) {
  return (
    <div className="grid gap-8">
      <div className="grid justify-items-start gap-3">
        <p className="text-lg sm:text-xl">
          {userName ? `Welcome, ${userName}. ` : ""}Nothing is recorded here yet.
        </p>
        <FirstCost workspace={workspace} environment="live" waitingFor="the first cost" />
        {hasTestData ? (
          <p className="text-muted-foreground text-sm">
            There is{" "}
            <Link href={`/${workspace}?environment=test`} className="underline underline-offset-4">
              test data
            </Link>
            . It counts toward no budget and no figure of live costs.
          </p>
        ) : null}
        {offersZone ? <OfferZone workspace={workspace} /> : null}
      </div>
      <ol className="grid gap-8">
        <Step number={1} title="What do you run?" isDone={false}>
          {canRecord ? (
            <ProgramLinks workspace={workspace} waiting={waiting} />
          ) : (
            <p className="text-muted-foreground text-sm">
              Viewers cannot add a program: ask a member of this workspace.
            </p>
          )}
        </Step>
        <SetUpAlerts number={2} workspace={workspace} alerts={alerts} />
      </ol>
    </div>
  );
}

/** Links for everything that can be recorded: programs with instructions, own programs, and past costs from a file. */
function ProgramLinks({
  workspace,
  waiting,
}: {
  workspace: string;
  waiting: { id: string; name: string }[];
}) {
  return (
    <div className="grid gap-4">
      <p className="max-w-[68ch] text-muted-foreground text-sm">
        Choose a program to get the lines to paste. What its calls of models cost is then recorded, without a
        change to its code.
      </p>
      {waiting.length > 0 ? (
        <p className="text-sm [overflow-wrap:anywhere]">
          Added, and nothing received yet:{" "}
          {waiting.map(({ id, name }, place) => (
            <span key={id}>
              {place > 0 ? ", " : null}
              <Link href={`/${workspace}/sources/${id}`} className="underline underline-offset-4">
                {name}
              </Link>
            </span>
          ))}
        </p>
      ) : null}
      <ul className="grid gap-2 sm:grid-cols-2 lg:grid-cols-3" aria-label="Programs">
        {sourcePrograms.map((program) => (
          <Choice
            key={program}
            href={`/${workspace}/sources/new?program=${program}`}
            label={programs[program].label}
            description={programs[program].description}
          />
        ))}
      </ul>
      <ul className="grid gap-2 sm:grid-cols-2 lg:grid-cols-3" aria-label="Other ways to record costs">
        <Choice
          href={`/${workspace}?start=code`}
          icon={<SquareTerminal />}
          label="Your own code"
          description="By the API, from any language. Begins with a test message."
        />
        <Choice
          href={`/${workspace}/activity/import`}
          icon={<FileUp />}
          label="A file of past costs"
          description="A CSV of a provider, a spreadsheet or another tool."
        />
      </ul>
    </div>
  );
}

function Choice({
  href,
  icon,
  label,
  description,
}: {
  href: string;
  icon?: ReactNode;
  label: string;
  description: string;
}) {
  return (
    <li className="relative grid content-start gap-0.5 rounded-lg border px-3.5 py-2.5 text-sm hover:bg-accent has-focus-visible:outline-2 has-focus-visible:outline-ring">
      <Link
        href={href}
        prefetch={false}
        className="flex items-center gap-2 font-medium outline-none after:absolute after:inset-0 [&_svg]:size-4 [&_svg]:text-muted-foreground"
      >
        {icon}
        {label}
      </Link>
      <span className="text-muted-foreground text-xs">{description}</span>
    </li>
  );
}
