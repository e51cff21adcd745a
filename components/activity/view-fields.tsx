import { usePathname, useRouter, useSearchParams } from "next/navigation";
import { Checkbox } from "@/components/ui/checkbox";
import { Label } from "@/components/ui/label";
import { Select } from "@/components/ui/select";
import { type ColumnName, columns, columnsCookie } from "./columns";

const orders = {
  "-time": "Latest first",
  time: "Earliest first",
  "-amount": "Highest amount first",
  amount: "Lowest amount first",
  "-quantity": "Highest quantity first",
  quantity: "Lowest quantity first",
};

const secondsRemembered = 400 * 86_400;

/** The fields of the menu of the view. The browser remembers the columns. */
export function ViewFields({
  shown,
  onChange,
}: {
  shown: readonly ColumnName[];
  onChange: (shown: ColumnName[]) => void;
}) {
  const router = useRouter();
  const path = usePathname();
  const params = useSearchParams();
  const go = (name: string, value: string, standard: string) => {
    const next = new URLSearchParams(params);
    if (value === standard) next.delete(name);
    else next.set(name, value);
    router.push(`${path}?${next}`, { scroll: false });
  };
  const choose = (name: ColumnName, isShown: boolean) => {
    const chosen = columns
      .map((column) => column.name)
      .filter((each) => (each === name ? isShown : shown.includes(each)));
    // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API is not in every browser.
    document.cookie = `${columnsCookie}=${chosen.join(".")}; path=/; max-age=${secondsRemembered}; samesite=lax`;
    onChange(chosen);
  };
  return (
    <>
      <div className="grid gap-1.5">
        <Label htmlFor="view-sort">Order</Label>
        <Select
          id="view-sort"
          value={params.get("sort") ?? "-time"}
          onChange={({ currentTarget: { value } }) => go("sort", value, "-time")}
        >
          {Object.entries(orders).map(([value, label]) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </Select>
      </div>
      <fieldset className="grid gap-2">
        <legend className="pb-1.5 font-medium">Columns</legend>
        {columns.map(({ name, label }) => (
          <Checkbox
            key={name}
            label={label}
            checked={shown.includes(name)}
            onChange={({ currentTarget: { checked } }) => choose(name, checked)}
          />
        ))}
      </fieldset>
    </>
  );
}
