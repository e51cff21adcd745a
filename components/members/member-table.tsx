import { Time } from "@/components/time";
import { Avatar } from "@/components/ui/avatar";
import { Table, TableBody, TableCell, TableHead, TableHeader, TableRow } from "@/components/ui/table";
import type { Membership } from "@/lib/contract/me";
import type { Member } from "@/lib/contract/members";
import { MemberActions } from "./member-actions";
import { personName, roleLabel } from "./person";

type Viewer = { userId: string; workspace: Membership };

/** The members of a workspace with their roles, which admins can change. */
export function MemberTable({ members, viewer }: { members: Member[]; viewer: Viewer }) {
  return (
    <Table aria-label="Members">
      <TableHeader>
        <TableRow>
          <TableHead className="pl-0">Name</TableHead>
          <TableHead className="hidden sm:table-cell">Joined</TableHead>
          <TableHead className="w-32 pr-2.5 text-right">Role</TableHead>
        </TableRow>
      </TableHeader>
      <TableBody>
        {members.map((member) => (
          <TableRow key={member.user_id} className="[&>td]:align-middle">
            <TableCell className="max-w-0 py-2.5 pl-0">
              <Person member={member} isViewer={member.user_id === viewer.userId} />
            </TableCell>
            <TableCell className="hidden w-32 whitespace-nowrap text-muted-foreground sm:table-cell">
              <Time at={member.joined_at} />
            </TableCell>
            <TableCell className="whitespace-nowrap py-1.5 pr-0 text-right">
              <Role member={member} viewer={viewer} />
            </TableCell>
          </TableRow>
        ))}
      </TableBody>
    </Table>
  );
}

function Person({ member, isViewer }: { member: Member; isViewer: boolean }) {
  const { display_name: name, email } = member;
  return (
    <div className="flex min-w-0 items-center gap-3">
      <Avatar name={personName(member)} />
      <span className="grid min-w-0">
        <span className="truncate">
          <span className="font-medium">{personName(member)}</span>
          {isViewer ? <span className="text-muted-foreground"> (you)</span> : null}
        </span>
        {name === null ? null : (
          <span className="truncate text-muted-foreground text-xs" title={email}>
            {email}
          </span>
        )}
      </span>
    </div>
  );
}

/** A member's role. Owners can change every role but their own; admins can also not change the role of an owner. */
function Role({ member, viewer: { userId, workspace } }: { member: Member; viewer: Viewer }) {
  const { role: viewerRole, slug } = workspace;
  const canChange = viewerRole === "owner" || (viewerRole === "admin" && member.role !== "owner");
  if (!canChange || member.user_id === userId) {
    // Aligned with the text of the buttons in other rows.
    return <span className="pr-2.5">{roleLabel(member.role)}</span>;
  }
  return (
    <MemberActions
      workspace={slug}
      userId={member.user_id}
      name={personName(member)}
      role={member.role}
      canAppointOwners={viewerRole === "owner"}
    />
  );
}
