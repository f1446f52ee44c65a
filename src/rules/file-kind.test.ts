import assert from 'node:assert/strict';
import test from 'node:test';
import { fileKind } from './file-kind.ts';

const bytes = (text: string) => Buffer.from(text, 'latin1');

const KINDS: [string, Buffer, string | null][] = [
  ['a PNG image', bytes('\x89PNG\r\n\x1a\n\0\0\0\rIHDR'), 'a PNG image'],
  ['a JPEG image', bytes('\xff\xd8\xff\xe0\0\x10JFIF'), 'a JPEG image'],
  ['a WebP image, which begins as WAV does', bytes('RIFF\x24\0\0\0WEBPVP8 '), 'a WebP image'],
  ['a HEIC image, which begins as m4a does', bytes('\0\0\0\x18ftypheic\0\0\0\0'), 'a HEIC image'],
  ['a PDF document', bytes('%PDF-1.7\n'), 'a PDF document'],
  ['a ZIP archive', bytes('PK\x03\x04\x14\0'), 'a ZIP archive or an office document'],
  ['a page of a web server', bytes('\n<!DOCTYPE html>\n<title>Sign in</title>'), 'an HTML page'],
  ['a drawing', bytes('<?xml version="1.0"?><svg xmlns="…">'), 'an SVG image'],
  ['the error of an API', bytes('{"error":"no such file"}'), 'JSON'],
  ['a playlist', bytes('#EXTM3U\n#EXT-X-VERSION:3\n'), 'a playlist'],
  ['a letter that is cut inside of a character', Buffer.from('Für Elise, für').subarray(0, -4), 'a text file'],
  ['an empty file', bytes(''), null],
  ['zeros', Buffer.alloc(100), null],
  ['WAV', bytes('RIFF\x24\0\0\0WAVEfmt '), null],
  ['MP3', bytes('\xff\xfb\x90\x64'), null],
];
for (const [what, start, kind] of KINDS) {
  test(`${what} is ${kind === null ? 'not taken for another file' : 'recognised'}`, () => {
    assert.equal(fileKind(start), kind);
  });
}
