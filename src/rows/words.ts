/** `1 row`, `2,000 rows`. */
export function plural(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString('en')} ${count === 1 ? one : many}`
}

const UNITS = ['bytes', 'kB', 'MB', 'GB', 'TB']

/** Bytes as people say them, in powers of a thousand: `637.8 kB`. */
export function bytesInWords(bytes: number): string {
  const power = bytes < 1000 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log10(bytes) / 3))
  return `${power === 0 ? bytes : (bytes / 1000 ** power).toFixed(1)} ${UNITS[power]}`
}
