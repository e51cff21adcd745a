"use client";

import dynamic from "next/dynamic";

// The client components of the first steps, whose code only the overview of an empty workspace loads.

export const FirstCost = dynamic(() => import("./first-cost").then((module) => module.FirstCost));
export const OfferZone = dynamic(() => import("./offer-zone").then((module) => module.OfferZone));
export const SetUpAlerts = dynamic(() => import("./set-up-alerts").then((module) => module.SetUpAlerts));
export const TryTheApi = dynamic(() => import("./try-the-api").then((module) => module.TryTheApi));
