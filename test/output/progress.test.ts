import { Writable } from 'node:stream'
import { expect, test } from '@jest/globals'
import { ProgressLine } from '../../src/output/index.js'

function stream(isTTY: boolean) {
  const written: string[] = []
  const writable = new Writable({
    write(chunk, _, done) {
      written.push(String(chunk))
      done()
    },
  })
  return { written, stream: Object.assign(writable, { isTTY, columns: 60 }) as unknown as NodeJS.WriteStream }
}

test('shows files, bytes and a path that cannot command the terminal, in one line', () => {
  const terminal = stream(true)
  const progress = new ProgressLine('collect', terminal.stream, () => 1e6)
  progress.step({ files: 3, bytes: 4_200_000, path: `a\x1b[2J\n${'long/'.repeat(40)}end` })
  progress.end()
  const [drawn, cleared] = terminal.written
  expect(drawn).toMatch(/^\rcollect: 3 files, 4\.2 MB {2}…/)
  expect(drawn).toContain('long/end')
  expect(drawn!.replace(/^\r|\x1b\[K$/g, '')).not.toMatch(/[\u0000-\u001f]/)
  expect(drawn!.length).toBeLessThan(60 + 5)
  expect(cleared).toBe('\r\x1b[K')
})

test('is drawn ten times a second at most', () => {
  const terminal = stream(true)
  let now = 1000
  const progress = new ProgressLine('collect', terminal.stream, () => now++)
  for (let i = 0; i < 1000; i++) progress.step({ files: i, bytes: 0, path: '' })
  expect(terminal.written.length).toBeLessThanOrEqual(11)
})

test('says nothing where there is no terminal', () => {
  const pipe = stream(false)
  const progress = new ProgressLine('collect', pipe.stream)
  progress.step({ files: 1, bytes: 1, path: 'x' })
  progress.end()
  expect(pipe.written).toEqual([])
})
