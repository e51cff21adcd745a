"use client";

import { Command as CommandRoot, useCommandState } from "cmdk";
import { type ComponentProps, useEffect, useRef, useState } from "react";
import { cn } from "./cn";

/**
 * A list that is searched by typing and moved through with the arrow keys, which go on at its other end. Whoever uses it
 * decides what matches and in which order. It is the one listbox of the interface, on `cmdk`, which is about 20 kB: load what
 * uses it on demand.
 * @param props.label the accessible name of the text field
 */
export function Command(props: ComponentProps<typeof CommandRoot>) {
  // Without Ctrl-J, K, N and P, because Ctrl-K opens and closes the command palette.
  return <CommandRoot shouldFilter={false} loop vimBindings={false} {...props} />;
}

/**
 * The id of the active item's element, for the attribute of the text field that tells screen readers of it. cmdk has none for
 * the item that is active at first.
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

/** An item, which a click and Enter choose. @param props.value tells it apart from all others of the Command */
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
