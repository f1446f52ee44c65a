/**
 * Names of audio and video files: the endings of formats that the service reads and that are in use for recordings.
 * Who chooses files by their names asks here; the service itself looks at the content only.
 */
export const MEDIA_NAME = new RegExp(
  `\\.(${[
    // Audio.
    ...['wav', 'w64', 'mp3', 'mp2', 'm4a', 'm4b', 'qta', 'aac', 'ogg', 'oga', 'opus', 'spx', 'flac', 'weba', 'mka'],
    ...['aif', 'aiff', 'au', 'caf', 'amr', 'gsm', 'ac3', 'wma'],
    // Video.
    ...['webm', 'mkv', 'mp4', 'm4v', 'mov', 'avi', 'wmv', 'flv', 'mpg', 'mpeg', 'ts', 'm2ts', '3gp', '3g2'],
  ].join('|')})$`,
  'i',
);
