/**
 * Endings of the names of audio and video files: of formats that the service reads and that are in use for recordings.
 * Who chooses files by their names asks here; the service itself looks at the content only.
 */
export const MEDIA_ENDINGS: readonly string[] = [
  // Audio.
  ...['wav', 'w64', 'mp3', 'mp2', 'mpga', 'm4a', 'm4b', 'm4r', 'qta', 'aac', 'ogg', 'oga', 'opus', 'spx', 'flac'],
  ...['weba', 'mka', 'aif', 'aiff', 'aifc', 'au', 'snd', 'caf', 'amr', 'awb', 'gsm', 'ac3', 'eac3', 'wma', 'asf'],
  // Video.
  ...['webm', 'mkv', 'mp4', 'm4v', 'f4v', 'mov', 'qt', 'avi', 'wmv', 'flv', 'mpg', 'mpeg', 'vob', 'ogv'],
  ...['ts', 'mts', 'm2t', 'm2ts', '3gp', '3g2'],
];

/** Names of audio and video files. */
export const MEDIA_NAME = new RegExp(`\\.(${MEDIA_ENDINGS.join('|')})$`, 'i');
