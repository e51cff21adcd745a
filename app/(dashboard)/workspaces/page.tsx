import { redirect } from "next/navigation";
import { currentUser } from "@/lib/access/sign-in/page-session";
import { readCurrentUser } from "@/lib/access/workspaces/service";

/** Redirects to the user's default workspace. */
export default async function HomeRedirect() {
  const claims = await currentUser();
  if (!claims) redirect("/sign-in");
  const { workspaces, locked_workspaces: locked } = await readCurrentUser(claims);
  const [first] = [...workspaces, ...locked];
  redirect(first ? `/${first.slug}` : "/");
}
