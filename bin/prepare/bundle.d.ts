/** The folder with the bundled service of the project at `root`; its programs are those of bin/entry-points.json. */
export declare function prepareBundle(root: string): string;
