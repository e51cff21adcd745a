import { cookies } from "next/headers";
import { type RememberedViews, readViewCookie, viewCookie } from "@/components/table/view-cookie";

/** A user's remembered views of tables, from the request's cookie. @param owner the user's id */
export async function readRememberedViews(owner: string): Promise<RememberedViews> {
  return { owner, views: readViewCookie(owner, (await cookies()).get(viewCookie)?.value) };
}
