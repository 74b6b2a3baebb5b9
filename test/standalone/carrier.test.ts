import path from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { ROOT } from '../helpers/fixtures.js'

const { silence } = (await import(path.join(ROOT, 'scripts/standalone/carrier.js'))) as { silence: (binary: Buffer) => string[] }

const DANGEROUS = ['NODE_OPTIONS', 'NODE_REPL_EXTERNAL_MODULE', 'OPENSSL_CONF', 'NODE_V8_COVERAGE', 'NODE_REDIRECT_WARNINGS']

/** Texts as a linker lays them out: each ends with a zero. */
function binary(...texts: string[]): Buffer {
  return Buffer.from(`\x7fELF\0${texts.map((text) => `${text}\0`).join('')}`, 'latin1')
}

describe('a Node that carries the program', () => {
  test('asks for none of the dangerous variables by its name, and is changed nowhere else', () => {
    const bytes = binary('before', ...DANGEROUS, 'behind')
    const was = Buffer.from(bytes)
    expect(silence(bytes)).toEqual(DANGEROUS)
    const changed = [...bytes.keys()].filter((at) => bytes[at] !== was[at])
    expect(changed).toEqual(DANGEROUS.map((name) => was.indexOf(`\0${name}\0`) + 1))
    expect(changed.map((at) => bytes[at])).toEqual(DANGEROUS.map(() => 0))
  })

  test.each(DANGEROUS)('is refused when it is not known where it asks for %s', (name) => {
    expect(() => silence(binary(...DANGEROUS.filter((other) => other !== name)))).toThrow(name)
  })

  test('is refused when it asks for a variable that nobody has looked at', () => {
    expect(() => silence(binary(...DANGEROUS, 'NODE_RUN_THIS_FIRST'))).toThrow('NODE_RUN_THIS_FIRST')
  })

  test('keeps what only looks like a variable, and what V8 keeps behind a checksum', () => {
    const length = Buffer.alloc(4)
    length.writeUInt32LE('NODE_OPTIONS'.length)
    const snapshot = Buffer.concat([length, Buffer.from('NODE_OPTIONS\0')])
    const bytes = Buffer.concat([binary(...DANGEROUS, 'NODE_SEA_BLOB', 'to NODE_OPTIONS'), snapshot])
    silence(bytes)
    expect(bytes.toString('latin1')).toContain('\0NODE_SEA_BLOB\0to NODE_OPTIONS\0')
    expect(bytes.subarray(-snapshot.length)).toEqual(snapshot)
  })

  test('reads no OpenSSL configuration of the machine', () => {
    const bytes = binary(...DANGEROUS, 'openssl.cnf')
    silence(bytes)
    expect(bytes.includes('openssl.cnf')).toBe(false)
  })
})
