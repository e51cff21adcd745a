"use client";

import { useMemo } from "react";
import { Time } from "@/components/figures/time";
import { secondLine, type TableColumn } from "@/components/table/column";
import { DataTable } from "@/components/table/data-table";
import type { RememberedViews } from "@/components/table/view-cookie";
import { Avatar } from "@/components/ui/avatar";
import type { Membership } from "@/lib/contract/access/me";
import type { Member } from "@/lib/contract/access/members";
import { MemberActions } from "./member-actions";
import { personName, roleLabel, roles } from "./person";

type Viewer = { userId: string; workspace: Membership };

/** The members of a workspace with their roles, which admins can change. */
export function MemberTable({
  members,
  viewer,
  views,
}: {
  members: Member[];
  viewer: Viewer;
  views: RememberedViews;
}) {
  const columns = useMemo(() => columnsOf(viewer), [viewer]);
  return (
    <DataTable
      id="members"
      workspace={viewer.workspace.slug}
      views={views}
      label="Members"
      noun="member"
      rows={members}
      columns={columns}
      rowId={({ user_id: id }) => id}
    />
  );
}

/** The rank of a member's role; the lowest is 0. */
const rankOf = ({ role }: Member) => -roles.findIndex(({ value }) => value === role);

function columnsOf(viewer: Viewer): TableColumn<Member>[] {
  return [
    {
      id: "name",
      label: "Name",
      part: "name",
      value: personName,
      alsoSaved: [{ label: "E-mail address", value: ({ email }) => email }],
      text: ({ display_name: name, email }) => `${name ?? ""} ${email}`,
      cell: (member) => <Person member={member} isViewer={member.user_id === viewer.userId} />,
      className: "w-full max-w-0",
    },
    {
      id: "joined",
      label: "Joined",
      kind: "time",
      value: ({ joined_at: at }) => at,
      cell: ({ joined_at: at }) => <Time at={at} />,
      from: "sm",
      className: "w-32 min-w-32 whitespace-nowrap",
      cellClassName: "text-muted-foreground",
    },
    {
      id: "role",
      label: "Role",
      part: "actions",
      value: ({ role }) => roleLabel(role),
      compare: (a, b) => rankOf(a) - rankOf(b),
      cell: (member) => <Role member={member} viewer={viewer} />,
      // Aligned with the text of the buttons in the rows.
      className: "min-w-28 whitespace-nowrap pr-2.5 text-right last:pr-2.5",
      cellClassName: "py-1.5 last:pr-0 in-data-[density=compact]:py-0",
    },
  ];
}

function Person({ member, isViewer }: { member: Member; isViewer: boolean }) {
  const { display_name: name, email } = member;
  return (
    <div className="flex min-w-0 items-center gap-3">
      <Avatar name={personName(member)} className="sm:in-data-[density=compact]:size-6" />
      <span className="grid min-w-0">
        <span className="truncate">
          <bdi className="font-medium">{personName(member)}</bdi>
          {isViewer ? <span className="text-muted-foreground"> (you)</span> : null}
        </span>
        {name === null ? null : (
          <span className={`truncate text-muted-foreground text-xs ${secondLine}`} title={email}>
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
