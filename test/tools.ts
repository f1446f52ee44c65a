import type { ToolPaths } from '../src/platform/tools.ts';

/** Where the tests find ffmpeg and pocketsphinx: as the service does, where `bin/verbatim` put them. */
export const TEST_TOOLS: ToolPaths = { folder: process.env['VERBATIM_TOOLS'] || null };
