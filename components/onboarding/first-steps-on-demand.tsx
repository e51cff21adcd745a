"use client";

import dynamic from "next/dynamic";

/** The first steps, whose code only the overview of an empty workspace loads. */
export const FirstStepsOnDemand = dynamic(() => import("./first-steps").then((module) => module.FirstSteps));
