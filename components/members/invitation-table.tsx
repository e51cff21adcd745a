import { Time } from "@/components/figures/time";
import { Badge } from "@/components/ui/badge";
import { Table, TableBody, TableCell, TableHead, TableHeader, TableRow } from "@/components/ui/table";
import type { Invitation } from "@/lib/contract/access/invitations";
import { personName, roleLabel } from "./person";
import { RevokeInvitation } from "./revoke-invitation";

/** Invitations that are not accepted yet, with a button to revoke each. */
export function InvitationTable({
  invitations,
  workspace,
}: {
  invitations: Invitation[];
  workspace: string;
}) {
  return (
    <Table aria-label="Open invitations">
      <TableHeader>
        <TableRow>
          <TableHead>For</TableHead>
          <TableHead className="hidden sm:table-cell">Role</TableHead>
          <TableHead className="hidden md:table-cell">Invited by</TableHead>
          <TableHead>Expires</TableHead>
          <TableHead>
            <span className="sr-only">Revoke</span>
          </TableHead>
        </TableRow>
      </TableHeader>
      <TableBody>
        {invitations.map(({ id, email, role, invited_by: inviter, expires_at: end, expired }) => (
          <TableRow key={id} className="[&>td]:align-middle">
            <TableCell className="w-full max-w-0">
              <span className="block truncate" title={email ?? undefined}>
                {email ?? "Anyone with the link"}
              </span>
              <span className="text-muted-foreground text-xs sm:hidden">{roleLabel(role)}</span>
            </TableCell>
            <TableCell className="hidden sm:table-cell">{roleLabel(role)}</TableCell>
            <TableCell className="hidden max-w-44 truncate md:table-cell">{personName(inviter)}</TableCell>
            <TableCell className="whitespace-nowrap">
              {expired ? <Badge variant="outline">Expired</Badge> : <Time at={end} />}
            </TableCell>
            <TableCell className="text-right">
              <RevokeInvitation workspace={workspace} id={id} invitee={email ?? "anybody with the link"} />
            </TableCell>
          </TableRow>
        ))}
      </TableBody>
    </Table>
  );
}
