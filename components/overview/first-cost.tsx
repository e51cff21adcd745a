import type { ReactNode } from "react";

/** What a workspace shows before its first message: how to send it. */
export function FirstCost({ name, children }: { name: string | null; children: ReactNode }) {
  return (
    <div className="max-w-3xl">
      <p className="text-lg sm:text-xl">{name ? `Welcome, ${name}. ` : ""}Nothing was recorded here yet.</p>
      <p className="mt-1 mb-5 text-muted-foreground">
        Put an API key of this workspace into <code className="font-mono text-[0.9em]">OUTLAY_API_KEY</code>{" "}
        and send what was used. The project is made by the first message that names it.
      </p>
      {children}
    </div>
  );
}
