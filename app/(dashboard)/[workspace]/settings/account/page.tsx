import type { Metadata } from "next";
import { requireWorkspace } from "@/app/(dashboard)/[workspace]/membership";
import { ChangePasswordForm } from "@/components/account/change-password-form";
import { ProfileForm } from "@/components/account/profile-form";
import { SettingsSection, SettingsSections } from "@/components/settings/settings-section";
import { changePassword } from "./actions";

export const metadata: Metadata = { title: "Your account" };

type Props = { params: Promise<{ workspace: string }> };

/** The signed-in user's own: it holds in every workspace. */
export default async function AccountPage({ params }: Props) {
  const { user, profile, workspaces } = await requireWorkspace((await params).workspace);
  return (
    <SettingsSections>
      <SettingsSection
        title="Your account"
        description={`You are signed in as ${user.email}. What stands here is the same in every workspace.`}
      >
        <div className="max-w-md">
          <ProfileForm profile={profile} workspaces={workspaces.map(({ id, name }) => ({ id, name }))} />
        </div>
      </SettingsSection>
      <SettingsSection title="Password" description="Changing it signs you out everywhere else.">
        <div className="max-w-md [&_button]:justify-self-start">
          <ChangePasswordForm email={user.email} action={changePassword} />
        </div>
      </SettingsSection>
    </SettingsSections>
  );
}
