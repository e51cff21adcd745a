import type { Metadata } from "next";
import { listAuthenticators, proveIdentity } from "@/app/(auth)/prove-identity";
import { openIfDeleted, requireWorkspace } from "@/app/(dashboard)/[workspace]/membership";
import { personName } from "@/components/members/person";
import { Facts } from "@/components/settings/facts";
import { SettingsSection, SettingsSections } from "@/components/settings/settings-section";
import { DeleteWorkspace } from "@/components/workspaces/delete-workspace";
import { ExportWorkspace } from "@/components/workspaces/export-workspace";
import { LeaveWorkspace } from "@/components/workspaces/leave-workspace";
import { RequireMfa } from "@/components/workspaces/require-mfa";
import { TimeZoneSetting } from "@/components/workspaces/time-zone-setting";
import { TransferOwnership } from "@/components/workspaces/transfer-ownership";
import { WorkspaceForm } from "@/components/workspaces/workspace-form";
import { provedSecondFactor } from "@/lib/access/sign-in/second-factor";
import { readOrganization } from "@/lib/access/workspaces/service";
import { listCurrencies } from "@/lib/currencies";

export const metadata: Metadata = { title: "Settings" };

type Props = { params: Promise<{ workspace: string }> };

/** General settings of a workspace: name, two-factor requirement, ownership, and leaving it. */
export default async function GeneralSettingsPage({ params }: Props) {
  const { claims, user, workspace } = await requireWorkspace((await params).workspace);
  const { members } = await readOrganization(claims, workspace.slug).catch(openIfDeleted(workspace.slug));
  const others = members.filter(({ user_id: id }) => id !== user.id);
  const isOwner = workspace.role === "owner";
  const isAdmin = isOwner || workspace.role === "admin";
  const isLastOwner = isOwner && !others.some(({ role }) => role === "owner");
  return (
    <SettingsSections>
      <SettingsSection title="General">
        {isAdmin ? (
          <WorkspaceForm workspace={workspace} currencies={listCurrencies()} />
        ) : (
          <Facts
            facts={[
              { label: "Name", value: workspace.name },
              { label: "Description", value: workspace.description ?? "None" },
              { label: "Currency", value: workspace.base_currency },
              { label: "Time zone", value: workspace.time_zone },
              { label: "Address", value: `/${workspace.slug}` },
              {
                label: "Two-factor authentication",
                value: workspace.require_mfa ? "Required" : "Not required",
              },
            ]}
          />
        )}
      </SettingsSection>
      {isAdmin ? (
        <SettingsSection
          title="Time zone"
          description="All figures of the workspace are by days, weeks and months of this time zone. New budgets begin with it."
        >
          <TimeZoneSetting workspace={workspace} />
        </SettingsSection>
      ) : null}
      {isAdmin ? (
        <SettingsSection
          title="Two-factor authentication"
          description="Members can then use the workspace only after they have set up an authenticator app and entered its code. API keys are not affected."
        >
          <RequireMfa workspace={workspace} hasProved={provedSecondFactor(claims)} />
        </SettingsSection>
      ) : null}
      {isOwner ? (
        <SettingsSection
          title="Ownership"
          description="An owner can do everything that an admin can, and decides who is an owner. After a transfer, you are an admin."
        >
          <TransferOwnership
            workspace={workspace.slug}
            candidates={others.map((member) => ({ userId: member.user_id, name: personName(member) }))}
          />
        </SettingsSection>
      ) : null}
      <SettingsSection
        title="Leave this workspace"
        description={
          isLastOwner
            ? "You are its only owner, and a workspace needs one. To leave, transfer the ownership first."
            : "You lose access until somebody invites you again."
        }
      >
        {isLastOwner ? null : (
          <LeaveWorkspace workspace={workspace.slug} name={workspace.name} userId={user.id} />
        )}
      </SettingsSection>
      {isAdmin ? (
        <SettingsSection
          title="Export everything"
          description="All messages, projects, prices, budgets, keys without their secrets, members, alerts and the audit log, in one ZIP archive with a manifest."
        >
          <ExportWorkspace slug={workspace.slug} />
        </SettingsSection>
      ) : null}
      {isOwner && workspace.type !== "demo" ? (
        <SettingsSection
          title="Delete this workspace"
          description="Everything in it stops at once. You can undo this for thirty days; then it is erased."
        >
          <DeleteWorkspace
            slug={workspace.slug}
            name={workspace.name}
            proof={{ list: listAuthenticators, prove: proveIdentity }}
          />
        </SettingsSection>
      ) : null}
    </SettingsSections>
  );
}
