/** The bare reference: read, split on newline, JSON.parse of every line, one thread, nothing kept. `node bench/floor.js FILE...` */
import fs from 'node:fs'

let records = 0
for (const file of process.argv.slice(2)) {
  const fd = fs.openSync(file, 'r')
  const buffer = Buffer.allocUnsafe(4 << 20)
  let held = 0
  for (;;) {
    const read = fs.readSync(fd, buffer, held, buffer.length - held, null)
    if (read === 0) break
    const end = held + read
    let start = 0
    for (let newline = buffer.indexOf(10, start); newline !== -1 && newline < end; newline = buffer.indexOf(10, start)) {
      JSON.parse(buffer.toString('utf8', start, newline))
      records++
      start = newline + 1
    }
    buffer.copy(buffer, 0, start, end)
    held = end - start
  }
  fs.closeSync(fd)
}
console.log(records)
