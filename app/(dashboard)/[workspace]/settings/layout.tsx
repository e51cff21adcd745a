import type { ReactNode } from "react";
import { SettingsNav } from "@/components/settings/settings-nav";
import { PageHeader } from "@/components/shell/page-header";

type Props = { params: Promise<{ workspace: string }>; children: ReactNode };

/** The frame of every settings page. */
export default async function SettingsLayout({ params, children }: Props) {
  const { workspace } = await params;
  return (
    <>
      <PageHeader title="Settings" />
      <SettingsNav workspace={workspace} />
      {children}
    </>
  );
}
