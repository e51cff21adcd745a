import { ShieldCheck, ShieldQuestion, Undo2 } from "lucide-react";
import type { ReactNode } from "react";

/** Shows which host published the program's name and where the answer is sent, so that the user can detect an impostor. */
export function ProgramFacts({
  host,
  redirectHost,
  email,
}: {
  host: string | null;
  redirectHost: string;
  email: string;
}) {
  const isLocal = /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/.test(redirectHost);
  return (
    <div className="grid gap-2.5 rounded-md border px-3.5 py-3 text-sm">
      {host ? (
        <Fact icon={<ShieldCheck className="text-success" />}>
          <Host>{host}</Host> vouches for this name.
        </Fact>
      ) : (
        <Fact icon={<ShieldQuestion className="text-warning" />}>
          The program chose this name itself. It is not verified.
        </Fact>
      )}
      <Fact icon={<Undo2 className="text-muted-foreground" />}>
        {isLocal ? "Your answer goes to a program on this computer, " : "Your answer goes to "}
        <Host>{redirectHost}</Host>.
      </Fact>
      <p className="border-t pt-2.5 text-muted-foreground">
        Signed in as <span className="break-all text-foreground">{email}</span>. If you did not start this
        yourself just now, deny it.
      </p>
    </div>
  );
}

function Fact({ icon, children }: { icon: ReactNode; children: ReactNode }) {
  return (
    <p className="flex gap-2.5 [&_svg]:mt-0.5 [&_svg]:size-4 [&_svg]:shrink-0">
      <span aria-hidden="true">{icon}</span>
      <span className="min-w-0">{children}</span>
    </p>
  );
}

function Host({ children }: { children: string }) {
  return <strong className="break-all font-medium">{children}</strong>;
}
