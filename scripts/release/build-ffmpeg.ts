import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { step } from '../../bin/prepare/step.js';

/**
 * All that reads audio, and to write it what the service and the command line ask for (src/audio, cli/live). Debian's
 * own build has encoders, filters, devices and 200 libraries for them: eleven times the bytes of this one.
 */
const OPTIONS = [
  ...['--prefix=/usr', '--libdir=/usr/lib', '--enable-shared', '--disable-static', '--disable-debug', '--disable-doc'],
  ...['--disable-autodetect', '--enable-zlib', '--disable-network', '--disable-avdevice', '--disable-ffplay'],
  ...[
    '--disable-encoders',
    '--enable-encoder=opus,pcm_s16le,pcm_f32le',
    '--disable-filters',
    '--enable-filter=aresample,pan',
  ],
  ...['--disable-muxers', '--enable-muxer=matroska,null,ogg,pcm_s16le,wav', '--disable-protocols'],
  '--enable-protocol=fd,file,pipe,subfile',
];

/** The lists of packages that this machine has, each as a list of sources. */
const LISTS = '/etc/apt/{sources.list,sources.list.d/*.{list,sources}}';

/**
 * Builds ffmpeg and ffprobe from the source of this machine's Debian, with its security fixes.
 * @param scratch  has the folders of `download` of bin/prepare/unpack-tools.js
 * @param unpacked  gets a folder as an unpacked package has, with the name of that package's file
 */
export async function buildFfmpeg(scratch: string, unpacked: string): Promise<void> {
  const source = await fetchSource(scratch);
  const version = /^Version: (.+)$/m.exec(fs.readFileSync(source.description, 'utf8'))![1]!;
  const architecture = execFileSync('dpkg', ['--print-architecture'], { encoding: 'utf8' }).trim();
  const place = path.join(unpacked, `ffmpeg_${encodeURIComponent(version)}_${architecture}`);
  const script = `cd "$1" && shift && ./configure "$@" && make -j ${os.availableParallelism()} && make install DESTDIR="$DESTDIR"`;
  const env = { ...process.env, DESTDIR: place };
  await step(`building ffmpeg ${version}`, 'sh', ['-c', script, 'sh', source.folder, ...OPTIONS], { env });
  const documents = path.join(place, 'usr/share/doc/ffmpeg');
  fs.mkdirSync(documents, { recursive: true });
  fs.copyFileSync(path.join(source.folder, 'debian/copyright'), path.join(documents, 'copyright'));
}

async function fetchSource(scratch: string): Promise<{ folder: string; description: string }> {
  const lists = path.join(scratch, 'source-lists');
  const cwd = path.join(scratch, 'source');
  for (const folder of [lists, cwd]) fs.mkdirSync(folder);
  for (const file of fs.globSync(LISTS)) {
    const text = fs.readFileSync(file, 'utf8');
    fs.writeFileSync(path.join(lists, path.basename(file)), text.replace(/^(Types: +)?deb(?= |$)/gm, '$1deb-src'));
  }
  const settings = [
    `Dir::State=${scratch}/state`,
    `Dir::Cache=${scratch}/cache`,
    'Dir::Etc::SourceList=/dev/null',
    `Dir::Etc::SourceParts=${lists}`,
    'Acquire::Languages=none',
  ].flatMap((setting) => ['-o', setting]);
  await step('fetching the lists of sources', 'apt-get', [...settings, 'update']);
  await step('fetching the source of ffmpeg', 'apt-get', [...settings, 'source', '--only-source', 'ffmpeg'], { cwd });
  const [description] = fs.globSync(path.join(cwd, '*.dsc'));
  const [folder] = fs.globSync(path.join(cwd, 'ffmpeg-*/'));
  return { folder: folder!, description: description! };
}
