/** Elements of a page, however long its list is. */
export const MAX_NODES = 2_500;
/** Of a step that replaces all rows of the window, with a margin of 3: a task over 50 ms delays a frame noticeably. */
export const MAX_STEP_CPU_MS = 150;
export const MB = 1024 * 1024;
export const MAX_HEAP_BYTES = 80 * MB;
/** Of a view that is left and opened again, several times. */
export const MAX_GROWTH_BYTES = 5 * MB;
