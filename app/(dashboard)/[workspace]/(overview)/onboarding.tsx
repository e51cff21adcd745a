import { FirstSteps } from "@/components/onboarding/first-steps";
import { listApiKeys } from "@/lib/keys/management/service";
import { requireWorkspace } from "../membership";
import { serviceAddresses } from "../service-addresses";

/** What the overview shows before the first message: the three steps to it. */
export async function Onboarding({ slug }: { slug: string }) {
  const { claims, profile } = await requireWorkspace(slug);
  const { api_keys: keys, can_create: canCreate } = await listApiKeys(claims, slug);
  const existing = keys.find(({ status, kind }) => status === "active" && kind === "key");
  return (
    <div className="grid gap-8">
      <div>
        <p className="text-lg sm:text-xl">
          {profile.display_name ? `Welcome, ${profile.display_name}. ` : ""}Nothing is recorded here yet.
        </p>
        <p className="mt-1 text-muted-foreground">
          Three steps lead to your first figures. They take a minute or two.
        </p>
      </div>
      <FirstSteps
        workspace={slug}
        canCreate={canCreate}
        existing={
          existing ? { name: existing.name, prefix: existing.prefix, last_four: existing.last_four } : null
        }
        addresses={serviceAddresses()}
      />
    </div>
  );
}
