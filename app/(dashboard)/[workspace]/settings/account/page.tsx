import type { Metadata } from "next";
import { explainAddressChange } from "@/app/(auth)/address-changes";
import { OutboxHint } from "@/app/(auth)/outbox-hint";
import { listAuthenticators, proveIdentity, signOutEverywhere } from "@/app/(auth)/prove-identity";
import {
  beginAuthenticator,
  confirmAuthenticator,
  removeAuthenticator,
  renewRecoveryCodes,
} from "@/app/(auth)/second-factor-actions";
import { requireWorkspace } from "@/app/(dashboard)/[workspace]/membership";
import { ChangeEmailForm, type PendingAddress } from "@/components/account/change-email-form";
import { ChangePasswordForm } from "@/components/account/change-password-form";
import { DeleteAccount } from "@/components/account/delete-account";
import { FiguresForm } from "@/components/account/figures-form";
import { ProfileForm } from "@/components/account/profile-form";
import { SecondFactorSection } from "@/components/second-factor/second-factor-section";
import { SettingsSection, SettingsSections } from "@/components/settings/settings-section";
import { Alert } from "@/components/ui/alert";
import { buttonVariants } from "@/components/ui/button";
import { cn } from "@/components/ui/cn";
import { listSolelyOwned } from "@/lib/access/account/service";
import { readCodesLeft, readFactors } from "@/lib/access/sign-in/page-factors";
import { pageSession } from "@/lib/access/sign-in/page-session";
import { supabaseProject } from "@/lib/env";
import { changeEmail, changePassword, resendEmailChange, sendPasswordCode } from "./actions";

export const metadata: Metadata = { title: "Your account" };

type Props = {
  params: Promise<{ workspace: string }>;
  searchParams: Promise<{ address?: string }>;
};

/** The settings of the signed-in user, which are the same in every workspace. */
export default async function AccountPage({ params, searchParams }: Props) {
  const { workspace } = await params;
  const { claims, user, profile, workspace: current, workspaces } = await requireWorkspace(workspace);
  // The base currency of this workspace, otherwise that of another workspace of the user.
  const currency = [current, ...workspaces].find(({ base_currency: base }) => base !== "USD")?.base_currency;
  const [pending, change, blocking] = await Promise.all([
    readPendingAddress(),
    searchParams,
    listSolelyOwned(claims),
  ]);
  const outcome = explainAddressChange(change.address);
  return (
    <SettingsSections>
      <SettingsSection
        title="Your account"
        description={`You are signed in as ${user.email}. These settings are the same in every workspace.`}
      >
        <div className="max-w-md">
          <ProfileForm profile={profile} workspaces={workspaces.map(({ id, name }) => ({ id, name }))} />
        </div>
      </SettingsSection>
      <SettingsSection
        title="Numbers and amounts"
        description="How pages write numbers, dates and amounts for you."
      >
        <div className="max-w-md">
          <FiguresForm profile={profile} currency={currency} />
        </div>
      </SettingsSection>
      <SettingsSection
        title="E-mail address"
        description="A new address takes effect after it has been confirmed from both the new and the current address."
      >
        <div className="grid max-w-md gap-4 text-sm [&_form_button]:justify-self-start">
          {outcome ? (
            <Alert role="status" variant={change.address === "failed" ? "warning" : "default"}>
              {outcome}
            </Alert>
          ) : null}
          <ChangeEmailForm
            pending={pending}
            action={changeEmail.bind(null, workspace)}
            resend={resendEmailChange.bind(null, workspace)}
          />
        </div>
      </SettingsSection>
      <SettingsSection title="Password" description="Changing it signs you out everywhere else.">
        <div className="max-w-md [&_form>button]:justify-self-start">
          <ChangePasswordForm
            email={user.email}
            action={changePassword}
            sendCode={sendPasswordCode}
            isHosted={supabaseProject() !== undefined}
          />
        </div>
      </SettingsSection>
      <SecondFactor />
      <SettingsSection
        title="Your data"
        description="The data that Outlay stores about you, as JSON: profile, sign-in, sessions, memberships, connections, and your actions."
      >
        <a
          href="/api/v1/me/export"
          download="outlay-account.json"
          className={cn(buttonVariants({ variant: "outline" }), "justify-self-start")}
        >
          Export my data
        </a>
      </SettingsSection>
      <SettingsSection
        title="Delete your account"
        description="You can undo this for thirty days by signing in; then your identity is erased."
      >
        <DeleteAccount
          email={user.email}
          blocking={blocking}
          proof={{ list: listAuthenticators, prove: proveIdentity }}
          signOut={signOutEverywhere}
        />
      </SettingsSection>
      <div className="text-muted-foreground text-sm">
        <OutboxHint />
      </div>
    </SettingsSections>
  );
}

/** The pending change of address, if there is one. It is read from the identity provider, as the token does not contain it. */
async function readPendingAddress(): Promise<PendingAddress | undefined> {
  const { auth } = await pageSession();
  const { data } = await auth.getUser();
  const { email: current, new_email: wanted } = data.user ?? {};
  return current && wanted ? { current, wanted } : undefined;
}

/** The two-factor settings of the signed-in user. */
async function SecondFactor() {
  const session = await pageSession();
  const { authenticators } = await readFactors(session);
  const codes = authenticators.length > 0 ? await readCodesLeft(session) : undefined;
  return (
    <SecondFactorSection
      factors={authenticators}
      codes={codes}
      actions={{
        begin: beginAuthenticator,
        confirm: confirmAuthenticator,
        remove: removeAuthenticator,
        renewCodes: renewRecoveryCodes,
      }}
    />
  );
}
