import type { Metadata } from "next";
import { redirect } from "next/navigation";
import { signOut } from "@/app/(auth)/actions";
import { accountEndOf } from "@/app/(dashboard)/kept-user";
import { AuthCard, TextLink } from "@/components/auth/auth-card";
import { Time } from "@/components/figures/time";
import { Button } from "@/components/ui/button";
import { RestoreWorkspace } from "@/components/workspaces/restore-workspace";
import { currentUser } from "@/lib/access/sign-in/page-session";
import { withNext } from "@/lib/access/sign-in/safe-path";
import { readCurrentUser } from "@/lib/access/workspaces/service";

export const metadata: Metadata = { title: "Deleted workspaces", robots: { index: false } };

type Props = { searchParams: Promise<{ workspace?: string }> };

/** The workspaces of the user that were deleted, with the day of their erasure; owners can undo it. `workspace` comes first. */
export default async function DeletedWorkspacesPage({ searchParams }: Props) {
  const { workspace: slug } = await searchParams;
  const claims = await currentUser();
  if (!claims) redirect(withNext("/sign-in", "/workspaces/deleted"));
  const user = await readCurrentUser(claims).catch((error: unknown) => {
    const end = accountEndOf(error);
    if (end) return end;
    throw error;
  });
  if (typeof user === "string") return <EndedAccount end={user} />;
  const { deleted_workspaces: deleted, workspaces } = user;
  if (deleted.length === 0) redirect("/workspaces");
  const ordered = [...deleted].sort((a, b) => Number(b.slug === slug) - Number(a.slug === slug));
  const asked = deleted.find((workspace) => workspace.slug === slug);
  const [other] = workspaces;
  return (
    <AuthCard
      title={asked ? `${asked.name} was deleted` : "Deleted workspaces"}
      about="Nobody can use a deleted workspace, and its keys are refused. Until it is erased, an owner can undo the deletion, which restores everything."
      footer={
        <p>
          {other ? (
            <TextLink href={`/${other.slug}`}>Open {other.name}</TextLink>
          ) : (
            <TextLink href="/workspaces/new">Create a workspace</TextLink>
          )}
        </p>
      }
    >
      <ul className="grid divide-y rounded-lg border">
        {ordered.map(({ slug, name, role, erased_at: erasedAt, deleted_by: by }) => (
          <li key={slug} className="flex items-center justify-between gap-4 p-4">
            <div className="grid min-w-0 gap-0.5 text-sm">
              <span className="break-words font-medium">{name}</span>
              <span className="break-words text-muted-foreground">
                Will be erased <Time at={erasedAt} />
                {by ? `, deleted by ${by}` : null}
              </span>
            </div>
            {role === "owner" ? <RestoreWorkspace slug={slug} name={name} /> : null}
          </li>
        ))}
      </ul>
    </AuthCard>
  );
}

const ends = {
  deleted: {
    title: "This account was deleted",
    about:
      "To keep it, sign in again within thirty days of the deletion. Everything is restored except connected assistants.",
    button: "Sign in again",
  },
  erased: {
    title: "This account no longer exists",
    about: "It was erased, and cannot be restored. Sign out to use another account or to create one.",
    button: "Sign out",
  },
};

/** For a session that began before its account was deleted, or is of an account that was erased. */
function EndedAccount({ end }: { end: keyof typeof ends }) {
  const { title, about, button } = ends[end];
  return (
    <AuthCard title={title} about={about}>
      <form action={signOut}>
        <Button type="submit" className="h-10 w-full sm:h-9">
          {button}
        </Button>
      </form>
    </AuthCard>
  );
}
