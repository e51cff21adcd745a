"use client";

import { useRouter } from "next/navigation";
import { useState } from "react";
import { buttonVariants } from "@/components/ui/button";
import { Link } from "@/components/ui/link";
import { AuthenticatorSetup } from "./authenticator-setup";
import type { SecondFactorActions } from "./second-factor";

/**
 * Sets up an authenticator app for a workspace that requires one, and then opens the workspace.
 * @param props.isOpen whether the session can already open the workspace. It becomes true after the first code, when the
 *   page is rendered again; the recovery codes stay visible then.
 */
export function RequiredSetup({
  actions,
  workspace,
  isOpen,
}: {
  actions: Pick<SecondFactorActions, "begin" | "confirm">;
  workspace: { slug: string; name: string };
  isOpen: boolean;
}) {
  const router = useRouter();
  const [wasOpen] = useState(isOpen);
  if (wasOpen) {
    return (
      <Link href={`/${workspace.slug}`} className={buttonVariants({ size: "lg" })}>
        Open {workspace.name}
      </Link>
    );
  }
  return (
    <AuthenticatorSetup
      actions={actions}
      suggestedName="Authenticator app"
      onFinish={() => router.replace(`/${workspace.slug}`)}
      finish={`I have stored them. Open ${workspace.name}`}
    />
  );
}
