import type { Metadata } from "next";
import { requireWorkspace } from "@/app/(dashboard)/[workspace]/membership";
import { readRememberedViews } from "@/app/(dashboard)/[workspace]/remembered-views";
import { InvitationTable } from "@/components/members/invitation-table";
import { Invite } from "@/components/members/invite";
import { MemberTable } from "@/components/members/member-table";
import { membersId } from "@/components/members/person";
import { SettingsSection, SettingsSections } from "@/components/settings/settings-section";
import { listInvitations } from "@/lib/access/invitations/service";
import { readOrganization } from "@/lib/access/workspaces/service";

export const metadata: Metadata = { title: "Members" };

type Props = { params: Promise<{ workspace: string }> };

/** The members of a workspace and, for admins, its open invitations. */
export default async function MembersPage({ params }: Props) {
  const { claims, user, workspace } = await requireWorkspace((await params).workspace);
  const { slug, name, role } = workspace;
  const isAdmin = role === "owner" || role === "admin";
  const [{ members }, invited] = await Promise.all([
    readOrganization(claims, slug),
    isAdmin ? listInvitations(claims, slug) : undefined,
  ]);
  return (
    <SettingsSections>
      <div id={membersId} tabIndex={-1} className="outline-none">
        <SettingsSection
          title="Members"
          description={
            members.length === 1
              ? "You are the only member so far."
              : `This workspace has ${members.length} members.`
          }
          actions={isAdmin ? <Invite workspace={slug} name={name} /> : null}
        >
          <MemberTable
            members={members}
            viewer={{ userId: user.id, workspace }}
            views={await readRememberedViews(user.id)}
          />
        </SettingsSection>
      </div>
      {invited && invited.invitations.length > 0 ? (
        <SettingsSection title="Open invitations">
          <InvitationTable invitations={invited.invitations} workspace={slug} />
        </SettingsSection>
      ) : null}
    </SettingsSections>
  );
}
