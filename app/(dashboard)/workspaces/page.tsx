import { redirect } from "next/navigation";
import { currentUser } from "@/lib/access/sign-in/page-session";
import { readKeptUser } from "../kept-user";

/** Redirects to the user's default workspace; if there is none, to the deleted workspaces or to the page that creates one. */
export default async function HomeRedirect() {
  const claims = await currentUser();
  if (!claims) redirect("/sign-in");
  const user = await readKeptUser(claims);
  const [first] = [...user.workspaces, ...user.locked_workspaces];
  if (first) redirect(`/${first.slug}`);
  redirect(user.deleted_workspaces.length > 0 ? "/workspaces/deleted" : "/workspaces/new");
}
