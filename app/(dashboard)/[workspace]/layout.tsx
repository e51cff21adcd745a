import type { Metadata } from "next";
import type { ReactNode } from "react";
import { signOut } from "@/app/(auth)/actions";
import { formatDate } from "@/components/figures/format-date";
import type { DisplayCurrency } from "@/components/reader/reader";
import { ReaderProvider } from "@/components/reader/reader-provider";
import { Shell } from "@/components/shell/shell";
import { Link } from "@/components/ui/link";
import { Toaster } from "@/components/ui/toaster";
import { requireWorkspace } from "./membership";

type Props = { params: Promise<{ workspace: string }>; children: ReactNode };

export async function generateMetadata({ params }: Props): Promise<Metadata> {
  const { workspace } = await requireWorkspace((await params).workspace);
  const title = { default: `${workspace.name} · Outlay`, template: `%s · ${workspace.name} · Outlay` };
  return { title, robots: { index: false } };
}

/** The frame of every page of a workspace. Users who may not see the workspace are redirected here, before anything is sent. */
export default async function WorkspaceLayout({ params, children }: Props) {
  const { user, profile, workspace, workspaces, reader, hasDeleted } = await requireWorkspace(
    (await params).workspace,
  );
  return (
    <>
      <ReaderProvider reader={reader} key={JSON.stringify(reader)}>
        <Shell
          current={{ slug: workspace.slug, name: workspace.name }}
          workspaces={workspaces.map(({ slug, name }) => ({ slug, name }))}
          account={{ name: profile.display_name ?? user.email, email: user.email }}
          signOut={signOut}
          hasDeleted={hasDeleted}
        >
          {children}
          {reader.display ? (
            <ConversionNote display={reader.display} settings={`/${workspace.slug}/settings/account`} />
          ) : null}
        </Shell>
      </ReaderProvider>
      {/* Outside of the elements that are remounted when the reader's settings change, so that the notice about it stays. */}
      <Toaster />
    </>
  );
}

/** Says below a page how its amounts were converted, with a link to the setting. @param props.settings the link's address */
function ConversionNote({ display, settings }: { display: DisplayCurrency; settings: string }) {
  const { currency, besideUsd, rateDate, source, isOld } = display;
  return (
    <p className="mt-12 border-t pt-3 text-muted-foreground text-xs" data-testid="conversion-note">
      {besideUsd ? `Amounts in ${currency}` : "Amounts"} marked with ≈ are converted from USD, in which every
      cost is recorded: sums at each day&apos;s rate, other amounts at the latest one. The latest rate is of{" "}
      {formatDate(rateDate)} ({source}) and holds for the days after it.{" "}
      {isOld ? (
        <strong className="font-medium text-foreground">
          It is more than a week old: no newer rate of {currency} is known.{" "}
        </strong>
      ) : null}
      <Link href={settings} prefetch={false} className="underline underline-offset-2">
        Change the currency
      </Link>
    </p>
  );
}
