'use strict';
const { prepareBundle, prepareInPlace } = require('./bundle.js');
const { prepareNode24 } = require('./node24.js');
const { preparePackages } = require('./packages.js');
const { missingTools, prepareTools } = require('./tools.js');
const { wantedTools } = require('./wanted-tools.js');

const PARTS = {
  async packages(root) {
    await preparePackages(root);
    await prepareNode24();
  },
  async bundle(root) {
    prepareBundle(root);
  },
  async image(root) {
    prepareInPlace(root);
  },
  async tools() {
    const wanted = wantedTools(process.env);
    const { VERBATIM_TOOLS: unpacked } = await prepareTools(wanted);
    const missing = unpacked ? [] : missingTools(wanted);
    if (missing.length > 0) throw new Error(`Not installed: ${missing.join(', ')}.`);
  },
};

/**
 * Installs what the service needs with the settings of the environment, and runs nothing: for images and for
 * installations that are finished before the first start.
 * @param names  of parts: `packages` (npm packages and Node 24), `bundle` (the service, after `packages`), `image` (in
 *   place of `bundle`, where nothing replaces the files), `tools` (ffmpeg and its sandbox); none: all but `image`
 * @throws Error  when something could not be installed
 */
async function prepareParts(root, names) {
  const unknown = names.find((name) => !Object.hasOwn(PARTS, name));
  if (unknown) throw new Error(`There is no part ${unknown}; there are: ${Object.keys(PARTS).join(', ')}`);
  for (const name of names.length > 0 ? names : ['packages', 'bundle', 'tools']) await PARTS[name](root);
}

module.exports = { prepareParts };
