"use client";

import { Command as CommandRoot, useCommandState } from "cmdk";
import { type ComponentProps, useEffect, useRef, useState } from "react";
import { cn } from "./cn";

/**
 * A list that is searched by typing and navigated with the arrow keys, which wrap around. Its user decides which items match and in
 * which order. All listboxes of the interface use it. It is based on `cmdk`, which is about 20 kB, so load components that use it on
 * demand.
 * @param props.label the accessible name of the text field
 */
export function Command(props: ComponentProps<typeof CommandRoot>) {
  // Without vim's keys, because Ctrl-K opens and closes the command palette.
  return <CommandRoot shouldFilter={false} loop vimBindings={false} {...props} />;
}

/**
 * The id of the active item's element, for `aria-activedescendant` of the text field, which cmdk does not set for the initially
 * active item.
 * @param within an element around the items
 */
export function useActiveItemId(within: () => Element | null | undefined): string | undefined {
  const [id, setId] = useState<string>();
  // Renders again when another item becomes active.
  useCommandState(({ value }) => value);
  useEffect(() => setId(within()?.querySelector('[cmdk-item][aria-selected="true"]')?.id));
  return id;
}

/** The text field of a Command. Typing makes the first item active. */
export function CommandInput(props: ComponentProps<typeof CommandRoot.Input>) {
  const input = useRef<HTMLInputElement>(null);
  const activeId = useActiveItemId(() => input.current?.closest("[cmdk-root]"));
  return (
    <CommandRoot.Input asChild {...props}>
      <input ref={input} aria-activedescendant={activeId} />
    </CommandRoot.Input>
  );
}

/** The items of a Command. @param props.label its accessible name */
export function CommandList({ className, ...props }: ComponentProps<typeof CommandRoot.List>) {
  return <CommandRoot.List className={cn("scroll-py-1.5 overflow-y-auto p-1.5", className)} {...props} />;
}

/** Items under a heading. */
export function CommandGroup({ className, ...props }: ComponentProps<typeof CommandRoot.Group>) {
  return (
    <CommandRoot.Group
      className={cn(
        "[&_[cmdk-group-heading]]:px-2.5 [&_[cmdk-group-heading]]:pt-2.5 [&_[cmdk-group-heading]]:pb-1 [&_[cmdk-group-heading]]:text-muted-foreground [&_[cmdk-group-heading]]:text-xs",
        className,
      )}
      {...props}
    />
  );
}

/** An item, chosen by a click or Enter. @param props.value unique within the Command */
export function CommandItem({ className, ...props }: ComponentProps<typeof CommandRoot.Item>) {
  return (
    <CommandRoot.Item
      // Keeps the focus in the field.
      onPointerDown={(event) => event.preventDefault()}
      className={cn(
        "flex cursor-pointer items-center gap-2.5 rounded-md px-2.5 text-sm aria-selected:bg-accent",
        className,
      )}
      {...props}
    />
  );
}
