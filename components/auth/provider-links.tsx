import { buttonVariants } from "@/components/ui/button";
import { cn } from "@/components/ui/cn";

/** Links to sign in with other services, above the form; nothing if there are none. */
export function ProviderLinks({ providers }: { providers: readonly { name: string; href: string }[] }) {
  if (providers.length === 0) return null;
  return (
    <div className="grid gap-4">
      <ul className="grid gap-2" aria-label="Other services">
        {providers.map(({ name, href }) => (
          <li key={href}>
            {/* Not Next's Link, whose prefetching would begin a sign-in. */}
            <a href={href} className={cn(buttonVariants({ variant: "outline" }), "h-10 w-full sm:h-9")}>
              Continue with {name}
            </a>
          </li>
        ))}
      </ul>
      <p className="flex items-center gap-3 text-muted-foreground text-xs before:h-px before:flex-1 before:bg-border after:h-px after:flex-1 after:bg-border">
        or
      </p>
    </div>
  );
}
