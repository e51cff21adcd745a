import { type ReactNode, useId } from "react";

/** A section of a settings page: title, description, content, and actions on the right. @param props.id of its heading */
export function SettingsSection({
  id: givenId,
  title,
  description,
  actions,
  children,
}: {
  id?: string;
  title: string;
  description?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}) {
  const ownId = useId();
  const id = givenId ?? ownId;
  return (
    <section aria-labelledby={id} className="grid grid-cols-[minmax(0,1fr)] content-start gap-4">
      <header className="flex flex-wrap items-start justify-between gap-x-6 gap-y-3">
        <div className="grid gap-1">
          <h2 id={id} tabIndex={-1} className="font-medium outline-none">
            {title}
          </h2>
          {description ? <p className="max-w-[68ch] text-muted-foreground text-sm">{description}</p> : null}
        </div>
        {actions}
      </header>
      {children}
    </section>
  );
}

/** The sections of a settings page, one below the other. */
export function SettingsSections({ children }: { children: ReactNode }) {
  return <div className="grid grid-cols-[minmax(0,1fr)] gap-12">{children}</div>;
}
