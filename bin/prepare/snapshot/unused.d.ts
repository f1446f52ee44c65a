/** Removes the snapshots of the folder that no process runs from, but the last three. */
export declare function removeUnused(folder: string, options?: { running?: string[]; nowMs?: number }): void;
