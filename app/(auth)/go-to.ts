import { headers } from "next/headers";
import { redirect } from "next/navigation";
import type { FormState } from "@/components/auth/auth-form";

/**
 * Opens a page after a form was handled. Pages below `/oauth/` have a Content-Security-Policy of their own, so the browser
 * must load them whole; Next would put them into the document of the form. Without scripts every redirect does that.
 * @param path a path of this service
 * @returns for pages below `/oauth/`, the state that makes `AuthForm` load them; otherwise it redirects
 */
export async function goTo(path: string): Promise<FormState> {
  const isScripted = (await headers()).has("next-action");
  if (isScripted && path.startsWith("/oauth/")) return { load: path };
  redirect(path);
}
