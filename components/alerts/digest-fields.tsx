"use client";

import { useState } from "react";
import type { z } from "zod";
import type { Weekday } from "@/components/schedule/time-choices";
import { TimeZoneField } from "@/components/schedule/time-zone-field";
import { WeekdayField } from "@/components/schedule/weekday-field";
import { textOf } from "@/components/ui/form";
import { FormField, TextField } from "@/components/ui/form-field";
import { Select } from "@/components/ui/select";
import type { AlertChannel, createChannelRequest } from "@/lib/contract/alerts/alert-channels";

type Digest = NonNullable<z.input<typeof createChannelRequest>["digest"]>;
type Every = "" | Digest["every"];

/** The fields for when alerts are sent: at once, or as a daily or weekly digest at a local time. @param props.present the edited channel */
export function DigestFields({
  present,
  errors,
}: {
  present?: AlertChannel;
  errors: Record<string, string>;
}) {
  const digest = present?.digest ?? null;
  const [every, setEvery] = useState<Every>(digest?.every ?? "");
  const [zone, setZone] = useState([digest?.time_zone ?? Intl.DateTimeFormat().resolvedOptions().timeZone]);
  return (
    <>
      <FormField
        label="When?"
        description={
          every === ""
            ? undefined
            : "Alerts since the last digest are sent together. Without alerts, nothing is sent."
        }
        error={errors.digest}
      >
        {(control) => (
          <Select
            {...control}
            name="digest_every"
            value={every}
            onChange={({ currentTarget }) => setEvery(currentTarget.value as Every)}
          >
            <option value="">At once</option>
            <option value="day">As a daily digest</option>
            <option value="week">As a weekly digest</option>
          </Select>
        )}
      </FormField>
      {every === "" ? null : (
        <>
          <div className="grid gap-5 sm:grid-cols-2">
            {every === "week" ? (
              <WeekdayField
                label="On"
                name="digest_weekday"
                chosen={digest?.weekday ?? undefined}
                error={errors["digest.weekday"]}
              />
            ) : null}
            <TextField
              label="At"
              type="time"
              name="digest_at"
              defaultValue={digest?.at ?? "09:00"}
              error={errors["digest.at"]}
            />
          </div>
          <TimeZoneField zone={zone} onZone={setZone} error={errors["digest.time_zone"]} />
          <input type="hidden" name="digest_zone" value={zone[0] ?? "UTC"} />
        </>
      )}
    </>
  );
}

/** Converts the fields of a form to a digest in a request. */
export function readDigest(fields: FormData): Digest | null {
  const every = textOf(fields, "digest_every") as Every;
  if (every === "") return null;
  const common = { at: textOf(fields, "digest_at"), time_zone: textOf(fields, "digest_zone") };
  return every === "day"
    ? { every, ...common }
    : { every, weekday: textOf(fields, "digest_weekday") as Weekday, ...common };
}
