/** The space around the bars of a chart, in pixels: for the labels of its axes. */
export const margin = { top: 10, right: 4, bottom: 24, left: 60 };

/** Classes of the frame of a drawing: the margin beside it. */
export const frameClass = "relative mr-1 ml-15";
