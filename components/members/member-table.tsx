import { Time } from "@/components/time";
import { Table, TableBody, TableCell, TableHead, TableHeader, TableRow } from "@/components/ui/table";
import type { Membership } from "@/lib/contract/me";
import type { Member } from "@/lib/contract/members";
import { MemberActions } from "./member-actions";
import { personName, roleLabel } from "./person";

type Viewer = { userId: string; workspace: Membership };

/** Everybody in a workspace, with what each may do. */
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
      <span
        aria-hidden="true"
        className="flex size-8 shrink-0 items-center justify-center rounded-full bg-secondary font-medium text-xs"
      >
        {personName(member).charAt(0).toUpperCase()}
      </span>
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

/** Admins change everybody's but an owner's; one's own way out is on the page of the workspace. */
function Role({ member, viewer: { userId, workspace } }: { member: Member; viewer: Viewer }) {
  const { role: own, slug } = workspace;
  const mayChange = own === "owner" || (own === "admin" && member.role !== "owner");
  if (!mayChange || member.user_id === userId) {
    // Ends where the buttons of the others do.
    return <span className="pr-2.5">{roleLabel(member.role)}</span>;
  }
  return (
    <MemberActions
      workspace={slug}
      userId={member.user_id}
      name={personName(member)}
      role={member.role}
      mayOwn={own === "owner"}
    />
  );
}
