"use client";

import Link from "next/link";
import { useRouter } from "next/navigation";
import { useState } from "react";
import { buttonVariants } from "@/components/ui/button";
import { AuthenticatorSetup } from "./authenticator-setup";
import type { SecondFactorActions } from "./second-factor";

/**
 * Sets an authenticator app up for a workspace that requires one, and goes on there.
 * @param isOpen whether the session reaches the workspace already. The page is rendered anew as soon as the first code was
 *   given, while the recovery codes are still in sight.
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
