import { Settings2 } from "lucide-react";
import { useId } from "react";
import { Checkbox } from "@/components/ui/checkbox";
import { cn } from "@/components/ui/cn";
import { Popover, PopoverContent, PopoverTrigger } from "@/components/ui/popover";
import { SegmentedControl } from "@/components/ui/segmented-control";
import type { TableColumn } from "./column";
import type { TableView } from "./view-cookie";

const densities = [
  { value: "comfortable", label: "Comfortable" },
  { value: "compact", label: "Compact" },
];

/** Classes that hide the choice of a column if the page is too narrow for the column. */
const offeredFrom = { sm: "max-sm:hidden", md: "max-md:hidden", lg: "max-lg:hidden", xl: "max-xl:hidden" };

const widths = ["sm", "md", "lg", "xl"] as const;

/** The menu that chooses the columns of a table and how dense its rows are. */
export function ViewMenu<Row>({
  columns,
  view,
  onChange,
}: {
  /** The columns that can be hidden. */
  columns: TableColumn<Row>[];
  view: TableView;
  onChange: (view: TableView) => void;
}) {
  const radios = useId();
  const narrowest = columns.every(({ from }) => from)
    ? widths.find((width) => columns.some(({ from }) => from === width))
    : undefined;
  const choose = (id: string, isShown: boolean) => {
    const others = view.hidden.filter((each) => each !== id);
    onChange({ ...view, hidden: isShown ? others : [...others, id] });
  };
  return (
    <Popover>
      <PopoverTrigger variant="outline" size="sm">
        <Settings2 aria-hidden="true" />
        <span className="max-sm:sr-only">View</span>
      </PopoverTrigger>
      <PopoverContent place="bottom-end" aria-label="View" role="dialog" className="w-64">
        <div className="grid gap-4">
          <div className="grid justify-items-start gap-1.5">
            <p aria-hidden="true" className="text-muted-foreground text-xs">
              Rows
            </p>
            <SegmentedControl
              legend="Rows"
              name={radios}
              options={densities}
              value={view.isCompact ? "compact" : "comfortable"}
              onChange={(value) => onChange({ ...view, isCompact: value === "compact" })}
            />
          </div>
          {columns.length > 0 ? (
            <fieldset className={cn("grid gap-2", narrowest && offeredFrom[narrowest])}>
              <legend className="mb-1.5 text-muted-foreground text-xs">Columns</legend>
              {columns.map(({ id, label, from }) => (
                <div key={id} className={from && offeredFrom[from]}>
                  <Checkbox
                    label={label}
                    checked={!view.hidden.includes(id)}
                    onChange={({ currentTarget }) => choose(id, currentTarget.checked)}
                  />
                </div>
              ))}
            </fieldset>
          ) : null}
        </div>
      </PopoverContent>
    </Popover>
  );
}
